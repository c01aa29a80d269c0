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
///
/// Work has 1.4 seconds from the first signal to save what it has and end by itself, usually
/// by `throw_if_interrupted`. If it has not ended by then, wherever it is, the process writes
/// a sentence to standard error and exits with 130. Files are written so that a process may end
/// at any moment (docs/design/crash_safety.md): what was saved before is kept. Uses SIGALRM.
void catch_interrupts();

/// Throws `Interrupted` with `message` if a stop has been asked for. Long work
/// calls it where it can stop without losing anything.
void throw_if_interrupted(const char* message);

/// Waits, and throws as above within a tenth of a second when a stop is asked for.
void wait_unless_interrupted(double seconds, const char* message);

/// Whether a stop has been asked for, of this process.
bool is_stop_requested();

/// For a process that has just passed the stop on to processes it started: they have their
/// 1.4 seconds, so that this one waits 1.7 from now.
void wait_for_processes_to_stop();

/// From here on a stop is taken only once it has been agreed on: processes that work
/// together must stop at the same place, and none knows how far the others are. The time
/// limit of the one that was asked stays.
void stop_together();
/// All know that one of them was asked.
void agree_to_stop();

}  // namespace proca
