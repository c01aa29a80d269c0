#pragma once

#include <torch/types.h>

namespace proca::kernels {

/// The largest of 3 x 3 neighbours at every second pixel, [N, C, H, W] ->
/// [N, C, ceil(H / 2), ceil(W / 2)]: what `torch::max_pool2d` gives for kernel 3, stride 2
/// and padding 1. Its own for GPUs, where LibTorch's takes longer than the convolutions
/// around it.
torch::Tensor halving_max_pool(const torch::Tensor& values);

/// What a GPU does for it. Activations are dense and channels-last, float or bfloat16.
struct MaxPoolKernels {
  bool (*can_run)(const torch::Tensor& values);
  struct Result {
    torch::Tensor output;
    torch::Tensor winners;  ///< uint8 like `output`: which of the 9 it was
  };
  Result (*forward)(const torch::Tensor& values);
  torch::Tensor (*backward)(const torch::Tensor& output_gradient, const torch::Tensor& winners,
                            at::IntArrayRef input_shape);
};

/// Null in a build without CUDA.
const MaxPoolKernels* cuda_max_pool_kernels();

}  // namespace proca::kernels
