#include "proca/core/interrupt.h"

#include <csignal>
#include <cstdio>

#include <gtest/gtest.h>
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

TEST(InterruptDeathTest, BeforeItIsAskedForASignalKills) {
  EXPECT_EXIT(std::raise(SIGINT), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace proca
