#include "proca/core/interrupt.h"

#include <csignal>

namespace proca {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void on_signal(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void throw_if_interrupted(const char* message) {
  if (stop_requested != 0) throw Interrupted(message);
}

}  // namespace proca
