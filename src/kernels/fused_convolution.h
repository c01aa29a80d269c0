#pragma once

#include <cstdint>

#include <torch/types.h>

namespace proca::kernels {

/// A convolution with a square kernel and what is done with its result.
struct FusedConvolution {
  torch::Tensor weight;
  torch::Tensor bias = {};  ///< undefined if there is none
  int64_t stride = 1;
  int64_t padding = 0;
  bool relu = false;
  torch::Tensor transformed = {};  ///< `winograd_weight(weight)`, if that is faster
};

/// convolution(input), plus `residual` if that is defined, then the rectifier if wanted.
/// On a GPU one kernel of cuDNN where it has one for these types and shapes, on a CPU one of
/// our own where that is faster, else one operation after the other, in place.
torch::Tensor run_fused(const FusedConvolution& convolution, const torch::Tensor& input,
                        const torch::Tensor& residual = {});

}  // namespace proca::kernels
