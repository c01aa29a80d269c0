#include "methods/parts/adversarial.h"

#include "losses/weighted.h"
#include "proca/losses/gradient_reversal.h"

namespace proca::methods {

AdversarialMethod::AdversarialMethod(models::ClassifierNetwork network,
                                     const Bottleneck& bottleneck, const Bottleneck::Layers& layers,
                                     DiscriminatorOptions discriminator, uint64_t seed)
    : network_(std::move(network)) {
  bottleneck.prepare(network_, layers, seed);
  discriminator.inputs = network_->feature_size();
  discriminator_ = Discriminator(discriminator, seed);
  discriminator_->to(device());
}

torch::Tensor AdversarialMethod::discriminate(const torch::Tensor& features,
                                              const torch::Tensor& coefficient) {
  discriminator_->train(network_->is_training());
  return discriminator_->scores(losses::reverse_gradient(features, coefficient));
}

AdversarialMethod::JointOutput AdversarialMethod::forward_jointly(
    const AdaptationBatch& batch, const torch::Tensor& coefficient) {
  const int64_t num_source = batch.source_images.size(0);
  const int64_t num_target = batch.target_images.size(0);
  const auto output = network_->forward(torch::cat({batch.source_images, batch.target_images}));
  const auto scores = discriminate(output.features, coefficient);
  return {output.logits.narrow(0, 0, num_source),
          losses::binary_cross_entropy_each(scores.narrow(0, 0, num_source), 1),
          losses::binary_cross_entropy_each(scores.narrow(0, num_source, num_target), 0)};
}

}  // namespace proca::methods
