#pragma once

#include <vector>

#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::kernels {

/// y = activation(batch_norm(x) + residual) over a batch that consists of groups, each
/// with statistics of its own: what one kernel does in training, for a device.
///
/// Activations are dense and channels-last (or [N, C]), float or bfloat16; all else is
/// float. Everything a kernel computes is float inside.
struct BatchNormInput {
  torch::Tensor values;                     ///< [N, C, H, W] or [N, C]
  torch::Tensor residual;                   ///< like `values`; undefined if there is none
  torch::Tensor weight, bias;               ///< [C]
  torch::Tensor running_mean, running_var;  ///< [C]; updated, group after group
  torch::Tensor num_batches_tracked;        ///< int64 scalar; grows by the number of groups
  std::vector<int64_t> group_sizes;         ///< images, in order; what is left of N is padding
  double momentum = 0.1;
  double epsilon = 1e-5;
  bool relu = false;
  /// Those whose images of a group have statistics in common; null for this process alone.
  compute::Ranks* ranks = nullptr;
};

/// The result, and what the way back needs.
struct BatchNormResult {
  torch::Tensor output;         ///< like `values`
  torch::Tensor mean, inv_std;  ///< [G, C] by group
  torch::Tensor pixels;         ///< double [G], of all ranks; undefined for one process alone
  /// Which outputs passed the rectifier, one bit each along the channels (uint8
  /// [pixels, C / 8]); undefined where a kernel finds that out otherwise.
  torch::Tensor mask;
};

/// Gradients; `residual` is undefined where there was none.
struct BatchNormGradients {
  torch::Tensor values, residual, weight, bias;
};

/// One device's way of doing it.
struct BatchNormKernels {
  /// Whether this input can be handled: dense, of a type and a number of channels it knows.
  bool (*can_run)(const BatchNormInput& input);
  BatchNormResult (*forward)(const BatchNormInput& input);
  BatchNormGradients (*backward)(const torch::Tensor& output_gradient, const BatchNormInput& input,
                                 const BatchNormResult& result);
};

const BatchNormKernels& cpu_batch_norm_kernels();
/// In LibTorch's own operations, for several ranks, on any device, with empty groups and padding.
const BatchNormKernels& shared_batch_norm_kernels();
/// Null in a build without CUDA.
const BatchNormKernels* cuda_batch_norm_kernels();

}  // namespace proca::kernels
