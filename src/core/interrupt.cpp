#include "proca/core/interrupt.h"

#include <atomic>
#include <csignal>

namespace proca {
namespace {

volatile std::sig_atomic_t stop_requested = 0;
std::atomic<bool> stops_together = false, has_agreed = false;

// The second signal kills, whichever of the two it is.
void on_signal(int) {
  stop_requested = 1;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void throw_if_interrupted(const char* message) {
  if (stops_together ? has_agreed.load() : is_stop_requested()) throw Interrupted(message);
}

bool is_stop_requested() { return stop_requested != 0; }

void stop_together() { stops_together = true; }

void agree_to_stop() { has_agreed = true; }

}  // namespace proca
