#include "proca/core/interrupt.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/terminal.h"

namespace proca {
namespace {

constexpr int kExitCode = 130;
constexpr suseconds_t kMicrosecondsToStop = 400'000;         // and one second
constexpr suseconds_t kMicrosecondsWithProcesses = 700'000;  // the same
constexpr char kStoppedByTimer[] =
    "error: stopped before the work at hand was done; what was saved before is kept, and the same "
    "command goes on from there\n";
constexpr char kClearLine[] = "\r\033[K";

volatile std::sig_atomic_t stop_requested = 0;
volatile std::sig_atomic_t shows_progress_bar = 0;
std::atomic<bool> stops_together = false, has_agreed = false;

// What is called in a signal handler has to be safe there: nothing that allocates or locks.

// A pipe that nobody reads must not keep the process from ending.
template <size_t kSize>
void write_to_stderr(const char (&text)[kSize]) {
  pollfd file{STDERR_FILENO, POLLOUT, 0};
  if (poll(&file, 1, 0) != 1 || (file.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, kSize - 1);
}

void on_time_over(int) {
  if (shows_progress_bar != 0) write_to_stderr(kClearLine);
  write_to_stderr(kStoppedByTimer);
  _exit(kExitCode);
}

void end_within_a_second_and(suseconds_t microseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = 1;
  timer.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// The second signal kills, whichever of the two it is. It comes here only if both came at once.
void on_signal(int signal) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (stop_requested != 0) {
    std::raise(signal);
    return;
  }
  stop_requested = 1;
  end_within_a_second_and(kMicrosecondsToStop);
}

}  // namespace

void catch_interrupts() {
  shows_progress_bar = is_on_terminal() ? 1 : 0;
  std::signal(SIGALRM, on_time_over);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void throw_if_interrupted(const char* message) {
  if (stops_together ? has_agreed.load() : is_stop_requested()) throw Interrupted(message);
}

void wait_unless_interrupted(double seconds, const char* message) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    throw_if_interrupted(message);
    const std::chrono::duration<double> left = until - Clock::now();
    if (left.count() <= 0) return;
    std::this_thread::sleep_for(std::min(left, std::chrono::duration<double>(0.05)));
  }
}

bool is_stop_requested() { return stop_requested != 0; }

void wait_for_processes_to_stop() { end_within_a_second_and(kMicrosecondsWithProcesses); }

void stop_together() { stops_together = true; }

void agree_to_stop() { has_agreed = true; }

}  // namespace proca
