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
  /// Whether `forward_groups` can be called: some backbones can only be asked about one
  /// group after the other.
  virtual bool knows_groups() const { return false; }
  /// Several groups in one call, one behind the other in `images`; in training mode each
  /// with batch-norm statistics of its own, as if `forward` were called on one after the
  /// other.
  virtual torch::Tensor forward_groups(const torch::Tensor& images, at::IntArrayRef group_sizes);
  /// Batches of so many images will come in training; somewhat smaller ones may be filled
  /// up to it, where that is faster than being ready for both.
  virtual void expect_batch(int64_t /*num_images*/) {}
  virtual int64_t feature_size() const = 0;
  /// From here on every rank computes its share of each group of images and gets the
  /// features of the others' from them (`compute_shared`). Returns false, and leaves all to
  /// every rank, where a backbone cannot: its batch-norm may be one that knows of no ranks.
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
  /// Weights start from the stream (seed, "backbone"). Without a seed they are left as
  /// memory happens to be, for those that are loaded next: drawing takes a while.
  std::optional<uint64_t> seed = 0;
};

/// Throws `InvalidOption` for an unknown name (with the nearest known one) and
/// `InputError` for a script that cannot be used.
std::shared_ptr<Backbone> make_backbone(const BackboneOptions& options);

/// The names `make_backbone` knows, without `script:FILE`.
std::vector<std::string> backbone_names();

}  // namespace proca::models
