#include "proca/compute/device.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "compute/cuda_graph.h"
#include "core/parallel.h"
#include "proca/compute/precision.h"
#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::compute {
namespace {

std::once_flag warm_up_begun;
std::jthread warm_up_thread;

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The reference BLAS does about 3 GFLOP/s on a core, tuned ones more than 50. Debian's LibTorch
// uses whichever is installed. The matrix is small enough for one thread, whose CPU time is
// measured: other processes do not matter.
void warn_about_slow_blas() {
  constexpr int64_t kSize = 64;
  constexpr double kSlowFlops = 8e9;
  const auto matrix = torch::ones({kSize, kSize});
  double best_s = 1e9;
  for (int i = 0; i < 10; ++i) {
    const double start = thread_cpu_s();
    torch::mm(matrix, matrix);
    best_s = std::min(best_s, thread_cpu_s() - start);
  }
  if (2.0 * kSize * kSize * kSize / best_s < kSlowFlops) {
    log_warning(
        "matrix products are slow on this machine (reference BLAS?); installing "
        "libopenblas0-pthread makes them many times faster");
  }
}

std::string cpu_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Creates the device's context and loads its libraries: copies, matrix products and
// convolutions, in the type and the layout that are used.
void warm_up(c10::Device device, Precision precision) {
  const torch::NoGradGuard no_grad;
  const auto options = torch::dtype(inference_dtype(precision, device)).device(device);
  const auto matrix = torch::ones({64, 64}, options);
  const auto images =
      torch::ones({2, 64, 8, 8}, options).contiguous(torch::MemoryFormat::ChannelsLast);
  const auto weight =
      torch::ones({64, 64, 3, 3}, options).contiguous(torch::MemoryFormat::ChannelsLast);
  const auto result = torch::conv2d(images, weight, {}, /*stride=*/1, /*padding=*/1);
  (result.sum() + torch::mm(matrix, matrix).sum()).to(torch::kCPU);
}

// The first product loads the CPU's BLAS.
void warm_up_host() {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const auto matrix = torch::ones({64, 64}, dtype);
    torch::mm(matrix, matrix);
  }
}

// With hundreds on a few cores LibTorch's threads only wait for each other.
void check_threads(int64_t threads) {
  constexpr int64_t kPerCore = 8;
  const int64_t cores = available_cores();
  if (threads <= kPerCore * cores) return;
  throw InvalidOption(
      fmt::format("--threads: {} is more than {}, {} for each of the {} cores; more threads than "
                  "cores make it slower",
                  threads, kPerCore * cores, kPerCore, cores));
}

}  // namespace

void ComputeOptions::bind(OptionSet& options) {
  options.bind("device", device, "where to compute", "auto|cpu|cuda|cuda:N");
  options.does_not_decide();
  options.bind("threads", threads, "CPU threads; 0 = all cores", 0, 4096);
  options.does_not_decide();
  options.bind_choice<Precision>(
      "precision", precision, "of products on a GPU; a CPU always has fp32",
      {{"fp32", Precision::kFp32}, {"tf32", Precision::kTf32}, {"bf16", Precision::kBf16}});
  options.bind_choice<GraphMode>(
      "graph", graph, "capture iterations on a GPU as CUDA graphs and replay them",
      {{"auto", GraphMode::kAuto}, {"on", GraphMode::kOn}, {"off", GraphMode::kOff}});
  options.does_not_decide();
  options.bind_choice<Winograd>("winograd", winograd,
                                "3 x 3 convolutions on a CPU by Winograd's algorithm",
                                {{"on", Winograd::kOn}, {"off", Winograd::kOff}});
  options.leave_unmentioned("\"on\"");
}

void ComputeOptions::bind_ranks(OptionSet& options) {
  options.bind("rank-timeout", rank_timeout_s,
               "seconds that another rank may take to answer, when several train together", 1,
               86400);
  options.does_not_decide();
}

int64_t ComputeOptions::resolved_threads() const {
  return threads > 0 ? threads : std::max<int64_t>(1, available_cores() / local_ranks);
}

c10::Device choose_device(const ComputeOptions& options) {
  const auto& name = options.device;
  if (name == "cpu" || (name == "auto" && !torch::cuda::is_available())) return torch::kCPU;
  if (name == "auto") return {torch::kCUDA, 0};
  const bool numbered = name.starts_with("cuda:") && name.size() > 5 && name.size() < 9 &&
                        name.find_first_not_of("0123456789", 5) == std::string::npos;
  if (name != "cuda" && !numbered) {
    throw InvalidOption(
        fmt::format("--device: \"{}\" is not one of auto, cpu, cuda, cuda:N", name));
  }
  const int64_t index = numbered ? std::stoll(name.substr(5)) : 0;
  const auto count = static_cast<int64_t>(torch::cuda::device_count());
  if (index >= count) {
    throw InvalidOption(
        fmt::format("--device: {} is not there: LibTorch sees {} CUDA devices", name, count));
  }
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

void begin_warm_up(const ComputeOptions& options) {
  const auto run = [options] {
    try {
      const auto device = choose_device(options);
      if (!device.is_cuda()) return;
      const std::jthread beside(warm_up_host);
      warm_up(device, options.precision);
    } catch (const std::exception& error) {
      // The next use of the device fails in the same way, with a message for the user.
      log_debug(fmt::format("{} could not be warmed up: {}", options.device, error.what()));
    }
  };
  std::call_once(warm_up_begun, [&] { warm_up_thread = std::jthread(run); });
}

void finish_warm_up() {
  if (warm_up_thread.joinable()) warm_up_thread.join();
}

c10::Device set_up_libtorch(const ComputeOptions& options) {
  check_threads(options.resolved_threads());
  at::set_num_threads(static_cast<int>(options.resolved_threads()));
  set_precision(options.precision);
  set_winograd(options.winograd);
  begin_warm_up(options);
  const auto device = choose_device(options);
  if (device.is_cpu()) warn_about_slow_blas();
  leave_default_stream(device);
  return device;
}

int64_t peak_host_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

std::string device_name(c10::Device device) {
  return device.is_cuda() ? gpu_name(device) : cpu_name();
}

}  // namespace proca::compute
