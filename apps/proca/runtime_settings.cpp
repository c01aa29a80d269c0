#include "runtime_settings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <torch/cuda.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "proca/core/error.h"

namespace proca::app {
namespace {

constexpr std::array<std::string_view, 10> kComputingCommands = {
    "adapt",   "bench",    "demo",      "evaluate", "experiment",
    "predict", "pretrain", "reproduce", "run",      "watch"};

// The default of 300,000 makes training of a small network several times slower when anything
// else runs on the machine. This one costs it 3 % on a quiet one (docs/design/speed.md).
constexpr const char* kSpinCount = "2000";

}  // namespace

// Training frees and allocates blocks of the same sizes in every iteration. glibc maps large
// blocks anew each time, and the kernel clears their pages.
void keep_freed_memory() {
#if defined(__GLIBC__)
  if (std::getenv("MALLOC_MMAP_MAX_") == nullptr) mallopt(M_MMAP_MAX, 0);
  if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

void check_address_space() {
  constexpr rlim_t kNeeded = rlim_t{1} << 30;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= kNeeded) {
    return;
  }
  throw Error(
      fmt::format("the address space of this process is limited to {} MB (ulimit -v); at least {} "
                  "MB are needed",
                  limit.rlim_cur >> 20, kNeeded >> 20));
}

void shorten_openmp_spin(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (std::find(kComputingCommands.begin(), kComputingCommands.end(), command) ==
          kComputingCommands.end() ||
      std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr ||
      torch::cuda::is_available()) {
    return;
  }
  // Started through the dynamic loader, which /proc/self/exe is then.
  if (getauxval(AT_BASE) == 0) return;
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return;
  setenv("GOMP_SPINCOUNT", kSpinCount, /*overwrite=*/0);
  execv(program.c_str(), argv);  // Returns only if it fails; then the default stays.
}

}  // namespace proca::app
