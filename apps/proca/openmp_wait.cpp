// How LibTorch's OpenMP threads wait for each other.
//
// GNU OpenMP lets a thread that has nothing to do spin for many milliseconds before it
// sleeps. On a machine that is busy with anything else (our own decoding threads
// are enough) the spinning thread holds the core that the working one needs, and
// training becomes many times slower (measured with a build running beside it: 10
// against 198 images/s on two cores). A short spin gives the core back soon. But a thread
// that sleeps is late for the next layer, which on a quiet machine costs a small network
// a fifth of its speed: there the spin is longer, though still much shorter than the
// library's own.
//
// The library reads its settings when it is loaded, before main(); functions in
// .preinit_array run before that. What the user has set is left alone.

#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace {

// How many threads run or want to, this one included: the fourth number of /proc/loadavg,
// behind which a slash and that of all follow. 0 if that cannot be read.
long count_running() {
  const int descriptor = ::open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  char text[128] = {};
  const auto length = ::read(descriptor, text, sizeof text - 1);
  ::close(descriptor);
  const char* field = text;
  for (int number = 1; number < 4 && length > 0; ++number) {
    while (*field != ' ' && *field != '\0') ++field;
    if (*field == ' ') ++field;
  }
  return std::strtol(field, nullptr, 10);
}

// Whether nobody else wants a core. Something small is always about to run, so a few looks
// are taken, a hundredth of a second in all.
bool is_quiet() {
  int alone = 0;
  for (int look = 0; look < 5; ++look) {
    if (look > 0) ::usleep(2000);
    if (count_running() == 1) ++alone;
  }
  return alone >= 3;
}

void limit_openmp_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", is_quiet() ? "20000" : "1000", 0);
}

__attribute__((section(".preinit_array"),
               used)) void (*const run_before_libraries)() = limit_openmp_spinning;

}  // namespace
