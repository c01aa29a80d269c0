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

}  // namespace proca
