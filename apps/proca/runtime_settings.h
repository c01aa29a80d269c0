#pragma once

namespace proca::app {

/// Keeps freed memory for the next allocation instead of returning it to the system.
void keep_freed_memory();

/// Shortens the time for which idle OpenMP threads spin. GNU OpenMP reads that from the
/// environment while it is loaded, so the program sets GOMP_SPINCOUNT and starts itself over,
/// once. Only for commands that compute, and only where they do so on a CPU.
void shorten_openmp_spin(int argc, char** argv);

/// Throws `Error` if this process may not have enough address space (`ulimit -v`): LibTorch would
/// end it without a word, or wait for ever for threads that cannot start.
void check_address_space();

}  // namespace proca::app
