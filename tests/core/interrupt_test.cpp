#include "proca/core/interrupt.h"

#include <array>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace proca {
namespace {

// What has been asked for cannot be taken back, so every case is a process of its own.

void exit_with_message() {
  try {
    throw_if_interrupted("stopped after epoch 3");
  } catch (const Interrupted& error) {
    std::fputs(error.what(), stderr);
    _exit(0);
  }
  _exit(1);
}

TEST(InterruptDeathTest, ASignalAsksForAStop) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          catch_interrupts();
          std::raise(signal);
          exit_with_message();
        },
        testing::ExitedWithCode(0), "^stopped after epoch 3$");
  }
}

TEST(InterruptDeathTest, WithoutASignalNothingHappens) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        exit_with_message();
      },
      testing::ExitedWithCode(1), "^$");
}

TEST(InterruptDeathTest, ASecondSignalKillsWhicheverItIs) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      EXPECT_EXIT(
          {
            catch_interrupts();
            std::raise(first);
            std::raise(second);
            _exit(0);
          },
          testing::KilledBySignal(second), "");
    }
  }
}

// Both are delivered before either handler runs to its end.
void get_two_signals_at_once() {
  catch_interrupts();
  sigset_t both;
  sigset_t before;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &both, &before);
  kill(getpid(), SIGINT);
  kill(getpid(), SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (;;) pause();
}

TEST(InterruptDeathTest, TwoSignalsAtOnceKill) {
  EXPECT_EXIT(
      get_two_signals_at_once(), [](int status) { return WIFSIGNALED(status); }, "^$");
}

// A phase that never looks: only the time limit ends it. Were there none, ctest's would.
TEST(InterruptDeathTest, WorkThatNeverLooksIsEnded) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGINT);
        for (;;) pause();
      },
      testing::ExitedWithCode(130), "^error: stopped before the work at hand was done");
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGTERM);
        volatile bool goes_on = true;
        while (goes_on) {
        }
      },
      testing::ExitedWithCode(130), "what was saved before is kept");
}

TEST(InterruptDeathTest, OneOfSeveralThatNeverAgreeIsEnded) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        stop_together();
        std::raise(SIGTERM);
        for (;;) {
          throw_if_interrupted("agreed");
          pause();
        }
      },
      testing::ExitedWithCode(130), "^error: stopped before");
}

TEST(InterruptDeathTest, WaitingForProcessesEndsToo) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGTERM);
        wait_for_processes_to_stop();
        for (;;) pause();
      },
      testing::ExitedWithCode(130), "^error: stopped before");
}

// Nobody reads the pipe, and it is full: writing to it would wait for ever.
void be_stopped_with_a_full_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_NONBLOCK) != 0) _exit(1);
  while (write(ends[1], "x", 1) == 1) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], STDERR_FILENO);
  catch_interrupts();
  std::raise(SIGINT);
  for (;;) pause();
}

TEST(InterruptDeathTest, AFullPipeKeepsNobodyFromEnding) {
  EXPECT_EXIT(be_stopped_with_a_full_pipe(), testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, BeforeItIsAskedForASignalKills) {
  EXPECT_EXIT(std::raise(SIGINT), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace proca
