#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::kernels {

/// Batch normalisation of a batch that may consist of several groups of images, with the
/// residual addition and ReLU fused into it.
///
/// Parameters and buffers have the names and starting values of `torch::nn::BatchNorm2d`.
class BatchNormImpl : public torch::nn::Module {
 public:
  explicit BatchNormImpl(int64_t num_channels);

  /// What follows the normalisation.
  struct Then {
    bool relu = false;
    torch::Tensor residual = {};  ///< added before ReLU; undefined for none
  };

  /// [N, C, H, W] or [N, C] -> the same shape. In training mode every group has
  /// statistics of its own and updates the running ones in turn, as if the layer were
  /// called on one group after the other. `group_sizes` are numbers of images; none means
  /// one group. Images behind the last group are padding: in training mode they come out as
  /// zeros, get no gradient and count for nothing.
  torch::Tensor forward(const torch::Tensor& values, at::IntArrayRef group_sizes, const Then& then);
  torch::Tensor forward(const torch::Tensor& values) { return forward(values, {}, {}); }

  /// In training mode, computes the statistics of a group from the images of all ranks, of which
  /// this one may have none. Null: from those of this process.
  void share(std::shared_ptr<compute::Ranks> ranks) { ranks_ = std::move(ranks); }

  double epsilon() const { return epsilon_; }

  torch::Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 private:
  double momentum_ = 0.1;
  double epsilon_ = 1e-5;
  std::shared_ptr<compute::Ranks> ranks_;
};
TORCH_MODULE(BatchNorm);

}  // namespace proca::kernels
