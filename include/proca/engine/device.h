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

/// Sets LibTorch's number of threads (it starts with one), and returns the
/// device: with `auto`, CUDA if this build and machine have it, else the CPU.
/// Warns when LibTorch runs on a slow BLAS.
///
/// Throws `InvalidOption` for an unknown device and for a CUDA device that is
/// not there.
c10::Device prepare_compute(const ComputeOptions& options);

/// What its maker calls the GPU or the CPU, for reports; `unknown` if nothing tells.
std::string device_name(c10::Device device);

/// The same for a GPU alone; a build without CUDA knows none.
std::string gpu_name(c10::Device device);

/// Most bytes that LibTorch has held on a GPU since the process began, cached ones
/// included; 0 for a CPU.
int64_t peak_device_bytes(c10::Device device);

}  // namespace proca::engine
