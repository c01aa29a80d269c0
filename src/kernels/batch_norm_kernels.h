#pragma once

#include <vector>

#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::kernels {

/// Input of y = activation(batch_norm(x) + residual) in training, over a batch of groups with
/// statistics of their own.
///
/// Activations are dense and channels-last (or [N, C]), float or bfloat16; all else is float.
struct BatchNormInput {
  torch::Tensor values;                     ///< [N, C, H, W] or [N, C]
  torch::Tensor residual;                   ///< like `values`; undefined if there is none
  torch::Tensor weight, bias;               ///< [C]
  torch::Tensor running_mean, running_var;  ///< [C]; updated, group after group
  torch::Tensor num_batches_tracked;        ///< int64 scalar; grows by the number of groups
  std::vector<int64_t> group_sizes;         ///< images, in order; the rest of N is padding
  double momentum = 0.1;
  double epsilon = 1e-5;
  bool relu = false;
  /// The ranks that share a batch; null for a single process.
  compute::Ranks* ranks = nullptr;
};

/// The output, and what the backward pass needs.
struct BatchNormResult {
  torch::Tensor output;         ///< like `values`
  torch::Tensor mean, inv_std;  ///< [G, C] by group
  torch::Tensor pixels;         ///< double [G], of all ranks; undefined for a single process
  /// Which outputs passed ReLU, one bit each along the channels, uint8 [pixels, C / 8];
  /// undefined if the backward kernel does not need it.
  torch::Tensor mask;
};

/// Gradients; `residual` is undefined where there was none.
struct BatchNormGradients {
  torch::Tensor values, residual, weight, bias;
};

/// The implementation for a device.
struct BatchNormKernels {
  /// Whether it supports the layout, the type and the number of channels.
  bool (*can_run)(const BatchNormInput& input);
  BatchNormResult (*forward)(const BatchNormInput& input);
  BatchNormGradients (*backward)(const torch::Tensor& output_gradient, const BatchNormInput& input,
                                 const BatchNormResult& result);
};

const BatchNormKernels& cpu_batch_norm_kernels();
/// For several ranks in LibTorch's operations: any device, empty groups, padding.
const BatchNormKernels& shared_batch_norm_kernels();
/// Null in a build without CUDA.
const BatchNormKernels* cuda_batch_norm_kernels();

}  // namespace proca::kernels
