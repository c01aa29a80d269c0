#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

namespace proca::models {

// Asynchronous copies to a GPU. They need pinned memory: from other memory the driver copies
// while the host waits. LibTorch keeps pinned memory until the copies from it are done, so
// the tensors here may go out of scope at once.

/// Uninitialised memory on the CPU for values on their way to `device` or from it: pinned if that
/// is a GPU.
torch::Tensor staging(at::IntArrayRef sizes, torch::Dtype type, torch::Device device);

/// The values on `device`; from the CPU to a GPU without waiting for what is computed
/// there. Values that are there already are returned as they are.
torch::Tensor copy_to(const torch::Tensor& values, torch::Device device);
torch::Tensor copy_to(const std::vector<int64_t>& values, torch::Device device);

}  // namespace proca::models
