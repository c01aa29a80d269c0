#pragma once

#include "proca/core/error.h"

namespace proca {

/// The user pressed Ctrl-C. The program exits with 130.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// From here on SIGINT and SIGTERM ask for a stop instead of killing; a second
/// one kills.
void catch_interrupts();

/// Throws `Interrupted` with `message` if a stop has been asked for. Long work
/// calls it where it can stop without losing anything.
void throw_if_interrupted(const char* message);

/// Whether a stop has been asked for, of this process.
bool is_stop_requested();

/// From here on a stop is taken only once it has been agreed on: processes that work
/// together must stop at the same place, and none knows how far the others are.
void stop_together();
/// All know that one of them was asked.
void agree_to_stop();

}  // namespace proca
