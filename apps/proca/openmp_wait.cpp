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
// The library asks getenv() for its settings when it is loaded, before main(). What a function in
// .preinit_array sets does not reach it: the C library has no environment yet, and begins with the
// one that the process was given. So the program has a getenv of its own, which stands before
// the C library's for all that is linked, and answers for this one variable where the user
// has not. Whether the machine is quiet is still looked at in .preinit_array: later, threads of
// other libraries run.

#include <cstdlib>
#include <cstring>

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

char* find_variable(const char* name) {
  const auto length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return nullptr;
}

char few_spins[] = "1000", many_spins[] = "20000";
char* spins = few_spins;

// A program made for GPUs has much else to do on the CPU than to compute: there a whole task
// takes 5.5 s with few spins, 5.9 with the library's own.
void choose_spins() {
  constexpr bool kForGpus = PROCA_MAKES_EARLY_CONTEXT;
  if (!kForGpus && is_quiet()) spins = many_spins;
}

__attribute__((section(".preinit_array"),
               used)) void (*const run_before_libraries)() = choose_spins;

}  // namespace

extern "C" char* getenv(const char* name) noexcept {
  char* const value = find_variable(name);
  const bool is_ours = std::strcmp(name, "GOMP_SPINCOUNT") == 0;
  if (value != nullptr || !is_ours || find_variable("OMP_WAIT_POLICY") != nullptr) return value;
  return spins;
}
