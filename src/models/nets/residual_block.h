#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/types.h>

#include "kernels/batch_norm.h"
#include "models/nets/layer_graph.h"
#include "models/nets/resnet.h"

namespace proca::models {

/// A square convolution without bias, padded so that stride 1 keeps the size.
///
/// torch::nn::Conv2d would do, but its constructor draws from the global random
/// generator. Here the weight is left uninitialised.
class ConvolutionImpl : public torch::nn::Module {
 public:
  ConvolutionImpl(int64_t in_channels, int64_t out_channels, int64_t kernel, int64_t stride);

  torch::Tensor forward(const torch::Tensor& input) const;
  std::string describe(LayerGraph& graph, const std::string& name, const std::string& input) const;

 private:
  int64_t kernel_, stride_;
  torch::Tensor weight_;
};
TORCH_MODULE(Convolution);

/// What a block needs to know of its place in the network.
struct BlockShape {
  BlockKind kind = BlockKind::kBasic;
  int64_t in_channels = 0;
  int64_t width = 0;
  int64_t stride = 1;  ///< of the whole block, also of its shortcut
  StrideIn stride_in = StrideIn::k3x3;

  int64_t out_channels() const { return kind == BlockKind::kBasic ? width : 4 * width; }
};

/// relu(convolutions(x) + shortcut(x)). The shortcut is the identity, or a 1x1
/// convolution (`downsample.0`, with its batch-norm `downsample.1`) where the
/// number of channels or the resolution changes.
class ResidualBlockImpl : public torch::nn::Module {
 public:
  explicit ResidualBlockImpl(const BlockShape& shape);

  /// `group_sizes` as in `BatchNormImpl::forward`.
  torch::Tensor forward(const torch::Tensor& input, at::IntArrayRef group_sizes);
  std::string describe(LayerGraph& graph, const std::string& name, const std::string& input) const;

 private:
  void add_convolution(int64_t in_channels, int64_t out_channels, int64_t kernel, int64_t stride);

  std::vector<Convolution> convolutions_;        // conv1, conv2, ...
  std::vector<kernels::BatchNorm> batch_norms_;  // bn1, bn2, ...
  Convolution downsample_convolution_{nullptr};  // null: the shortcut is the identity
  kernels::BatchNorm downsample_batch_norm_{nullptr};
};
TORCH_MODULE(ResidualBlock);

}  // namespace proca::models
