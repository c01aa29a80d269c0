#pragma once

#include <memory>

#include "methods/parts/bottleneck.h"
#include "methods/parts/class_weights.h"
#include "methods/parts/discriminator.h"
#include "proca/methods/method.h"

namespace proca::methods {

/// What adversarial methods share: a network with a bottleneck, and a discriminator
/// that tells source features from target features behind a gradient reversal.
class AdversarialMethod : public Method {
 public:
  /// `discriminator.inputs` is set to the size of the network's features.
  AdversarialMethod(models::ClassifierNetwork network, const Bottleneck& bottleneck,
                    const Bottleneck::Layers& layers, DiscriminatorOptions discriminator,
                    uint64_t seed);

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override { return discriminator_.ptr(); }
  bool supports_cuda_graph() const override { return true; }

 protected:
  torch::Device device() const { return network_->head()->weight.device(); }
  /// Scores float [N], large for the source; the gradient that reaches `features` is
  /// reversed and multiplied with `coefficient`.
  torch::Tensor discriminate(const torch::Tensor& features, const torch::Tensor& coefficient);
  /// Both domains in one forward pass, so that they share batch-norm statistics.
  struct JointOutput {
    torch::Tensor source_logits;                 ///< float [Ns, K]
    torch::Tensor source_losses, target_losses;  ///< the discriminator's: float [Ns], [Nt]
  };
  JointOutput forward_jointly(const AdaptationBatch& batch, const torch::Tensor& coefficient);

  models::ClassifierNetwork network_;
  Discriminator discriminator_{nullptr};
};

/// An adversarial method that weighs source images by class. Each step begins with
/// weights of 1.
class ClassWeightedMethod : public AdversarialMethod {
 public:
  using AdversarialMethod::AdversarialMethod;

  void begin_step(const StepContext&) override { class_weights_.reset(); }
  models::NamedTensors save() const override { return class_weights_.save(); }
  void load(const models::NamedTensors& tensors) override { class_weights_.load(tensors); }

 protected:
  ClassWeights class_weights_{device()};
};

}  // namespace proca::methods
