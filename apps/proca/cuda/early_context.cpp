// The GPU's context is made while the libraries are being loaded.
//
// The constructors of LibTorch and of CUDA's libraries take a third of a second before
// main() begins, the driver and its context another quarter. Neither needs the other: a function in
// .preinit_array runs before all constructors, and the driver needs no other library. What
// is begun here is the context that LibTorch will ask for, unless the command line or the
// environment may want another device; then LibTorch makes it, as always.

#include <array>
#include <string_view>

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace {

// Commands that compute on --device auto from beginning to end, and start no other process.
constexpr std::array<std::string_view, 5> kCommands = {"pretrain", "adapt", "run", "evaluate",
                                                       "predict"};
// Options that may name a device, or a file that does.
constexpr std::array<std::string_view, 2> kChoosing = {"--device", "--config"};
// Launchers of several processes, each with a device of its own.
constexpr std::array<std::string_view, 4> kRankVariables = {
    "RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};

bool is_set(char** environment, std::string_view variable) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(variable) && entry.substr(variable.size()).starts_with('=')) return true;
  }
  return false;
}

bool wants_first_gpu(int argc, char** argv, char** environment) {
  if (argc < 2) return false;
  bool known = false;
  for (const auto command : kCommands) known = known || command == argv[1];
  for (int i = 2; i < argc; ++i) {
    for (const auto option : kChoosing) {
      if (std::string_view(argv[i]).starts_with(option)) return false;
    }
  }
  for (const auto variable : kRankVariables) {
    if (is_set(environment, variable)) return false;
  }
  return known;
}

// The C library is the first to be initialised, and has the environment then. Whoever loads
// a library before that makes it begin with none.
void wait_for_c_library() {
  constexpr useconds_t kMicroseconds = 500;
  while (environ == nullptr) usleep(kMicroseconds);
  usleep(kMicroseconds);
}

// Whatever fails here fails again when LibTorch tries, which can tell the user.
void* make_context(void*) {
  wait_for_c_library();
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return nullptr;
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  const auto get = reinterpret_cast<decltype(&cuDeviceGet)>(dlsym(driver, "cuDeviceGet"));
  const auto retain = reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(
      dlsym(driver, "cuDevicePrimaryCtxRetain"));
  if (init == nullptr || get == nullptr || retain == nullptr) return nullptr;
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (init(0) == CUDA_SUCCESS && get(&device, 0) == CUDA_SUCCESS) retain(&context, device);
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
