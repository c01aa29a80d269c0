// The GPU's context is made while the libraries are being loaded.
//
// The constructors of LibTorch and of CUDA's libraries take a third of a second before
// main() begins, the driver and its context another quarter. Neither needs the other: a function in
// .preinit_array runs before all constructors, and the driver needs no other library. What
// is begun here is the context that LibTorch will ask for, unless the command line or the
// environment may want another device; then LibTorch makes it, as always.

#include <algorithm>
#include <array>
#include <string_view>

// Before, threads had a library of their own, which had to be initialised first.
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace {

// Commands that compute on --device auto from beginning to end, and start no other process.
constexpr std::array<std::string_view, 5> kCommands = {"pretrain", "adapt", "run", "evaluate",
                                                       "predict"};
// Options that may name a device, or a file that does, and those that need none.
constexpr std::array<std::string_view, 5> kHindrances = {"--device", "--config", "--print-config",
                                                         "--help", "-h"};
// By which `distributed::find_launch` knows several processes, each with a device of its own; and
// tools that load themselves with the driver, constructors and all.
constexpr std::array<std::string_view, 5> kForeignPlans = {
    "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "CUDA_INJECTION64_PATH"};

bool is_set(char** environment, std::string_view variable) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(variable) && entry.substr(variable.size()).starts_with('=')) return true;
  }
  return false;
}

bool wants_first_gpu(int argc, char** argv, char** environment) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (std::find(kCommands.begin(), kCommands.end(), command) == kCommands.end()) return false;
  for (int i = 2; i < argc; ++i) {
    for (const auto option : kHindrances) {
      if (std::string_view(argv[i]).starts_with(option)) return false;
    }
  }
  return std::none_of(kForeignPlans.begin(), kForeignPlans.end(),
                      [=](auto variable) { return is_set(environment, variable); });
}

// The C library is the first to be initialised, and has the environment then. Whoever loads
// a library before that makes it begin with none.
void wait_for_c_library() {
  constexpr useconds_t kMicroseconds = 500;
  while (environ == nullptr) usleep(kMicroseconds);
  usleep(kMicroseconds);
}

// Of the driver's interface, which has been the same since contexts can be shared, those that
// are needed. The results are CUresult, 0 for success.
using Init = int (*)(unsigned int flags);
using GetDevice = int (*)(int* device, int ordinal);
using RetainContext = int (*)(void** context, int device);

// Whatever fails here fails again when LibTorch tries, which can tell the user.
void* make_context(void*) {
  wait_for_c_library();
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return nullptr;
  const auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
  const auto get_device = reinterpret_cast<GetDevice>(dlsym(driver, "cuDeviceGet"));
  const auto retain = reinterpret_cast<RetainContext>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  if (init == nullptr || get_device == nullptr || retain == nullptr) return nullptr;
  int device = 0;
  void* context = nullptr;
  if (init(0) == 0 && get_device(&device, 0) == 0) retain(&context, device);
  return nullptr;
}

void begin_context(int argc, char** argv, char** environment) {
  if (!wants_first_gpu(argc, argv, environment)) return;
  pthread_t thread = 0;
  if (pthread_create(&thread, nullptr, make_context, nullptr) == 0) pthread_detach(thread);
}

__attribute__((section(".preinit_array"),
               used)) void (*const run_before_libraries)(int, char**, char**) = begin_context;

}  // namespace

#endif
