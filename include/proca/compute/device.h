#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <c10/core/Device.h>

#include "proca/compute/precision.h"
#include "proca/compute/ranks.h"
#include "proca/config/options.h"

namespace proca::compute {

/// Whether training iterations are captured as CUDA graphs and replayed.
enum class GraphMode {
  kAuto,  ///< where the device and the method allow it
  kOn,    ///< or it is an error
  kOff,
};

/// Where and with how many threads to compute.
struct ComputeOptions {
  std::string device = "auto";  ///< `auto`, `cpu`, `cuda` or `cuda:N`
  int64_t threads = 0;          ///< CPU threads; 0 for all cores
  Precision precision = Precision::kTf32;
  GraphMode graph = GraphMode::kAuto;
  Winograd winograd = Winograd::kOn;
  int64_t rank_timeout_s = 300;  ///< within which other ranks must answer
  /// The processes that train together with this one (`join_ranks`); null for a single one.
  std::shared_ptr<compute::Ranks> ranks = {};
  int64_t local_ranks = 1;  ///< how many of them share this machine's cores

  /// Declares `--device`, `--threads`, `--precision`, `--graph` and
  /// `--winograd`.
  void bind(OptionSet& options);
  /// Declares `--rank-timeout`, for what several ranks can do.
  void bind_ranks(OptionSet& options);
  int64_t resolved_threads() const;
};

/// The device of the options: with `auto`, CUDA if this build and machine have it, else the
/// CPU. Throws `InvalidOption` for an unknown device and for a CUDA device that is not
/// there.
c10::Device choose_device(const ComputeOptions& options);

/// Initialises a GPU on a thread of its own and returns at once: the first use of a GPU costs
/// up to a second, in which images can be decoded. An earlier use waits for it. Does nothing
/// for a CPU, nor the second time.
void begin_warm_up(const ComputeOptions& options);

/// Waits for the end of `begin_warm_up`. To be called before the process ends, which unloads
/// CUDA's libraries.
void finish_warm_up();

/// Changes LibTorch's settings for these options: the number of threads, TF32 for the whole
/// process, and on CUDA the current device and stream of the calling thread, because work on
/// the default stream cannot be recorded as a CUDA graph. Begins to warm up the device and
/// returns it. Warns when LibTorch runs on a slow BLAS.
///
/// For the beginning of a program, in the thread that trains; nothing in this library calls
/// it. Without it everything works with LibTorch's own settings, and without CUDA graphs.
/// Throws as `choose_device` does, and `InvalidOption` for far more threads than cores.
c10::Device set_up_libtorch(const ComputeOptions& options);

/// The model of the GPU or the CPU, for reports; `unknown` if the system does not tell.
std::string device_name(c10::Device device);

/// The same for a GPU; in a build without CUDA its index, such as `cuda:0`.
std::string gpu_name(c10::Device device);

/// Peak resident memory of this process in bytes.
int64_t peak_host_bytes();

/// Peak memory that LibTorch has reserved on a GPU in bytes, its cache included; 0 for a CPU.
int64_t peak_device_bytes(c10::Device device);

}  // namespace proca::compute
