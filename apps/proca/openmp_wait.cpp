// How LibTorch's OpenMP threads wait for each other.
//
// GNU OpenMP lets a thread that has nothing to do spin for milliseconds before it
// sleeps. On a machine that is busy with anything else (our own decoding threads
// are enough) the spinning thread holds the core that the working one needs, and
// training becomes many times slower (measured with a build running beside it: 10
// against 198 images/s on two cores). A short spin keeps the quick hand-over between one layer and
// the next and gives the core back soon after.
//
// The library reads its settings when it is loaded, before main(); functions in
// .preinit_array run before that. What the user has set is left alone.

#include <cstdlib>

namespace {

void limit_openmp_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
}

__attribute__((section(".preinit_array"),
               used)) void (*const run_before_libraries)() = limit_openmp_spinning;

}  // namespace
