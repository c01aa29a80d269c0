#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include "proca/models/classifier_network.h"

namespace proca::methods {

/// A classifier network with CIDA's layers:
///
///     images -> backbone -> f_s -> u -> E -> v -> D' -> u' -> g
///
/// f_s, E and D' are the network's neck, in this order; g, the classifier, has a row
/// for each of the K classes and one more for "none of them". That row is not part of the
/// network, which predicts the K classes only.
class CidaNetwork {
 public:
  static constexpr int64_t kLatentSize = 256;

  /// Inserts the layers, unless they are there. Throws `InputError` for a network with
  /// other layers.
  CidaNetwork(models::ClassifierNetwork network, uint64_t seed);

  /// u of images, in the network's mode.
  torch::Tensor latents(const torch::Tensor& images);
  /// The same with a backbone that is not trained: in evaluation mode, without gradients.
  torch::Tensor latents_behind_frozen_backbone(const torch::Tensor& images);
  /// All of it in evaluation mode and without gradients; the network's mode is restored.
  torch::Tensor frozen_latents(const torch::Tensor& images);

  torch::Tensor encode(const torch::Tensor& latents);  ///< E: u -> v
  torch::Tensor decode(const torch::Tensor& codes);    ///< D': v -> u'
  /// g, on u or u': float [N, K], and with "none of them" as last column [N, K + 1].
  torch::Tensor classify(const torch::Tensor& latents);
  torch::Tensor classify_with_negative(const torch::Tensor& latents);

  /// The last row of g (`negative`) and the guides.
  const std::shared_ptr<torch::nn::Module>& extra() const { return extra_; }
  /// float [K, 256], one trainable centre per class in the space of v.
  torch::Tensor& guides() { return guides_; }
  /// Of E and D'.
  std::vector<torch::Tensor> coder_parameters() const;

  int64_t num_classes() const { return network_->num_classes(); }
  torch::Device device() const { return network_->head()->weight.device(); }

 private:
  models::ClassifierNetwork network_;
  models::Neck neck_{nullptr};
  torch::nn::Linear head_{nullptr};
  std::shared_ptr<torch::nn::Module> extra_;
  torch::nn::Linear negative_{nullptr};
  torch::Tensor guides_;
};

}  // namespace proca::methods
