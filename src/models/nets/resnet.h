#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/types.h>

#include "kernels/batch_norm.h"
#include "models/nets/layer_graph.h"
#include "proca/models/backbone.h"

namespace proca::models {

class ConvolutionImpl;
class ResidualBlockImpl;

/// What a residual block computes beside its shortcut.
enum class BlockKind {
  kBasic,       ///< two 3x3 convolutions
  kBottleneck,  ///< 1x1 down to the stage's width, 3x3, 1x1 up to four times the width
};

/// What comes before the first block.
enum class StemKind {
  kLarge,  ///< 7x7 convolution of stride 2 and a 3x3 max-pool of stride 2: for 224 pixels
  kSmall,  ///< 3x3 convolution at full resolution: for 32 to 64 pixels
};

/// The shape of a ResNet (He et al., CVPR 2016).
struct ResNetLayout {
  std::string name;  ///< as `BackboneOptions::name`
  StemKind stem = StemKind::kLarge;
  BlockKind block = BlockKind::kBasic;
  std::vector<int64_t> stage_blocks;  ///< blocks per stage; stages become `layer1`, `layer2`, ...
  std::vector<int64_t> stage_widths;  ///< channels per stage; the stem has those of the first
  /// Matters for bottleneck blocks only. Weights trained for one layout give
  /// nonsense in the other although every shape agrees.
  StrideIn stride_in = StrideIn::k3x3;
};

/// The layout of one of `backbone_names()`:
///
/// | name         | stem  | block      | blocks per stage | widths              | features |
/// |--------------|-------|------------|------------------|---------------------|----------|
/// | resnet18     | large | basic      | 2 2 2 2          | 64 128 256 512      | 512      |
/// | resnet34     | large | basic      | 3 4 6 3          | 64 128 256 512      | 512      |
/// | resnet50     | large | bottleneck | 3 4 6 3          | 64 128 256 512      | 2048     |
/// | resnet101    | large | bottleneck | 3 4 23 3         | 64 128 256 512      | 2048     |
/// | resnet152    | large | bottleneck | 3 8 36 3         | 64 128 256 512      | 2048     |
/// | resnet-small | small | basic      | 2 2 2            | 16 32 64            | 64       |
///
/// Throws `InvalidOption` for any other name, suggesting the nearest.
ResNetLayout resnet_layout(const std::string& name, StrideIn stride_in = StrideIn::k3x3);

/// A ResNet up to and including its global average pool.
///
/// Names of parameters and buffers are torchvision's (`conv1.weight`,
/// `layer1.0.bn1.running_mean`, `layer2.0.downsample.0.weight`), and so are the
/// results, given the same weights.
///
/// Convolutions start from He's normal distribution, N(0, 2 / fan_out), drawn
/// from the stream (seed, "backbone"); batch-norms start at scale 1, shift 0.
///
/// Convolution weights lie channels-last in memory, which makes every
/// convolution run channels-last. Images that are channels-last already save
/// one copy.
class ResNet final : public Backbone {
 public:
  /// Without a seed the weights are not drawn.
  ResNet(ResNetLayout layout, std::optional<uint64_t> seed);

  torch::Tensor forward(const torch::Tensor& images) override { return forward_groups(images, {}); }
  bool has_groups() const override { return true; }
  torch::Tensor forward_groups(const torch::Tensor& images, at::IntArrayRef groups) override;
  void expect_batch(int64_t num_images) override {
    if (!ranks_) expected_sizes_.insert(num_images);  // Each rank has a part of it.
  }
  int64_t feature_size() const override { return feature_size_; }
  bool share(const std::shared_ptr<compute::Ranks>& ranks) override;
  const ResNetLayout& layout() const { return layout_; }

  /// Appends this network's operations to a graph; returns the name of the features.
  std::string describe(LayerGraph& graph) const;

 private:
  void initialise(uint64_t seed);
  int64_t padded_size(const torch::Tensor& images);
  torch::Tensor compute(const torch::Tensor& images, at::IntArrayRef group_sizes);

  ResNetLayout layout_;
  int64_t feature_size_ = 0;
  std::shared_ptr<compute::Ranks> ranks_;  // null: alone
  std::shared_ptr<ConvolutionImpl> conv1_;
  kernels::BatchNorm bn1_;
  std::vector<std::shared_ptr<ResidualBlockImpl>> blocks_;  // of all stages, in order
  // In training on a GPU: the sizes that smaller batches are padded to.
  std::set<int64_t> batch_sizes_, expected_sizes_;
};

}  // namespace proca::models
