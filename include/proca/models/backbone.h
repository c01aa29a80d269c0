#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::models {

/// Turns images into one feature vector each.
class Backbone : public torch::nn::Module {
 public:
  /// float [N, 3, H, W] -> float [N, feature_size()].
  virtual torch::Tensor forward(const torch::Tensor& images) = 0;
  /// Whether the backbone has `forward_groups`.
  virtual bool has_groups() const { return false; }
  /// Several groups in one call, concatenated in `images`. In training mode each group has
  /// its own batch-norm statistics, as if `forward` were called for each.
  virtual torch::Tensor forward_groups(const torch::Tensor& images, at::IntArrayRef group_sizes);
  /// Announces the batch size of training. Somewhat smaller batches may then be padded to it,
  /// where that is faster.
  virtual void expect_batch(int64_t /*num_images*/) {}
  virtual int64_t feature_size() const = 0;
  /// From now on every rank computes its share of each group of images and receives the
  /// features of the other shares (`compute_shared`). Returns false where the backbone cannot,
  /// because its batch-norm may not exchange statistics; every rank then computes everything.
  virtual bool share(const std::shared_ptr<compute::Ranks>& /*ranks*/) { return false; }
};

/// In which convolution of a bottleneck block the resolution is halved.
enum class StrideIn {
  k3x3,  ///< torchvision's layout
  k1x1,  ///< the original ResNet's
};

/// How to build a backbone.
struct BackboneOptions {
  /// `resnet18`, `resnet34`, `resnet50`, `resnet101`, `resnet152`,
  /// `resnet-small` (for images of 32 to 64 pixels), or `script:FILE` for a
  /// TorchScript module that maps images to feature vectors.
  std::string name = "resnet50";
  StrideIn stride_in = StrideIn::k3x3;
  /// Weights start from the stream (seed, "backbone"). Without a seed they are left
  /// uninitialised, which saves time where weights are loaded next.
  std::optional<uint64_t> seed = 0;
};

/// Throws `InvalidOption` for an unknown name (with the nearest known one) and
/// `InputError` for a script that cannot be used.
std::shared_ptr<Backbone> make_backbone(const BackboneOptions& options);

/// The names `make_backbone` knows, without `script:FILE`.
std::vector<std::string> backbone_names();

}  // namespace proca::models
