#pragma once

#include <cstdint>

#include <torch/types.h>

namespace proca::kernels {

/// A convolution with a square kernel, followed by bias and ReLU.
struct FusedConvolution {
  torch::Tensor weight;
  torch::Tensor bias = {};  ///< undefined if there is none
  int64_t stride = 1;
  int64_t padding = 0;
  bool relu = false;
  torch::Tensor transformed = {};  ///< `winograd_weight(weight)`, if that is faster
};

/// relu(convolution(input) + residual); undefined tensors are left out. On a GPU one kernel of
/// cuDNN where it has one for these types and shapes, on a CPU Winograd's convolution where that
/// is faster, else separate operations, in place.
torch::Tensor run_fused(const FusedConvolution& convolution, const torch::Tensor& input,
                        const torch::Tensor& residual = {});

}  // namespace proca::kernels
