#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>

#include "proca/core/options.h"
#include "proca/engine/precision.h"

namespace proca::engine {

/// Where and with how many threads to compute.
struct ComputeOptions {
  std::string device = "auto";  ///< `auto`, `cpu`, `cuda` or `cuda:N`
  int64_t threads = 0;          ///< CPU threads; 0 for all cores
  Precision precision = Precision::kTf32;

  /// Declares `--device`, `--threads` and `--precision`.
  void bind(OptionSet& options);
  int64_t resolved_threads() const;
};

/// The device that is meant: with `auto`, CUDA if this build and machine have it, else the
/// CPU. Throws `InvalidOption` for an unknown device and for a CUDA device that is not
/// there.
c10::Device choose_device(const ComputeOptions& options);

/// Starts to get a GPU ready on a thread of its own and returns at once: its first use
/// costs up to a second, in which images can be decoded. Whoever uses the device earlier
/// waits as long as without. Does nothing for a CPU, nor the second time.
void begin_warm_up(c10::Device device);

/// Sets LibTorch's number of threads (it starts with one), chooses the device,
/// begins to warm it up, and returns it. Warns when LibTorch runs on a slow BLAS.
/// Throws as `choose_device` does.
c10::Device prepare_compute(const ComputeOptions& options);

}  // namespace proca::engine
