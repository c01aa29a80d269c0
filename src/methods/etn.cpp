// ETN: example transfer network (Cao et al., CVPR 2019).
//
// An auxiliary classifier A with a leaky softmax learns, on features that it may not
// change, which source images look like target images. Those count for more:
//
//     mean_j w_j ce_j                                              main classifier, source
//   + a [ mean_j w_j BCE(D(source), 1) + mean_i BCE(D(target), 0) ]
//   + b mean entropy of the target
//   + c [ mean BCE(d(source), 1) + mean BCE(d(target), 0) ]        A alone
//   + e (A's K binary cross-entropies on the source)               A alone
//
// d is the sum of A's leaky softmax, w_j = (1 - d_j) / mean(1 - d).

#include "losses/leaky_softmax.h"
#include "losses/weighted.h"
#include "methods/parts/bottleneck.h"
#include "methods/parts/configure.h"
#include "methods/parts/discriminator.h"
#include "methods/parts/with_prototypes.h"
#include "proca/losses/gradient_reversal.h"

namespace proca::methods {
namespace {

constexpr double kRampLength = 10'000;  // calls of the gradient reversal

struct EtnOptions {
  Bottleneck bottleneck;
  double adversarial_weight = 1;
  double entropy_weight = 0.2;
  double auxiliary_domain_weight = 10;
  double auxiliary_class_weight = 1;

  void bind(OptionSet& options) {
    bottleneck.bind(options);
    options.bind("adversarial-weight", adversarial_weight, "weight of the discriminator's loss",
                 0.0, 1e6);
    options.bind("entropy-weight", entropy_weight, "weight of the entropy of target images", 0.0,
                 1e6);
    options.bind("auxiliary-domain-weight", auxiliary_domain_weight,
                 "weight of the auxiliary classifier's loss on domains", 0.0, 1e6);
    options.bind("auxiliary-class-weight", auxiliary_class_weight,
                 "weight of the auxiliary classifier's loss on classes", 0.0, 1e6);
  }
};

struct EtnModules : torch::nn::Module {
  EtnModules(int64_t feature_size, int64_t num_classes, uint64_t seed)
      : discriminator(DiscriminatorOptions{.inputs = feature_size, .dropout = 0.5}, seed),
        classifier(DiscriminatorOptions{.inputs = feature_size,
                                        .outputs = num_classes,
                                        .dropout = 0.5,
                                        .purpose = "auxiliary classifier"},
                   seed) {
    register_module("discriminator", discriminator);
    register_module("classifier", classifier);
  }
  Discriminator discriminator, classifier;
};

class Etn final : public Method {
 public:
  Etn(models::ClassifierNetwork network, const EtnOptions& options, uint64_t seed)
      : options_(options), network_(std::move(network)) {
    options_.bottleneck.prepare(network_, {}, seed);
    modules_ =
        std::make_shared<EtnModules>(network_->feature_size(), network_->num_classes(), seed);
    modules_->to(network_->head()->weight.device());
  }

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override { return modules_; }

  // The original counts every call of the discriminator: first source, then target.
  models::NamedTensors prepare(const AdaptationBatch&, const StepContext& context) override {
    const auto device = network_->head()->weight.device();
    const double calls = 2 * context.clock;
    return {{"source reversal", scalar_on(device, losses::reversal_ramp(calls / kRampLength))},
            {"target reversal",
             scalar_on(device, losses::reversal_ramp((calls + context.clock_tick) / kRampLength))}};
  }
  bool supports_cuda_graph() const override { return true; }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    freeze_stem();
    modules_->train(network_->is_training());
    const auto outputs = network_->forward_each({batch.source_images, batch.target_images});
    const auto& source = outputs[0];
    const auto& target = outputs[1];

    const auto source_logits = modules_->classifier->forward(source.features.detach());
    const auto target_logits = modules_->classifier->forward(target.features.detach());
    const auto source_domain = losses::leaky_domain_logits(source_logits);
    const auto target_domain = losses::leaky_domain_logits(target_logits);
    const auto weights = losses::instance_weights(source_domain);

    const auto adversarial_source = losses::binary_cross_entropy_each(
        discriminate(source.features, batch.inputs.at("source reversal")), 1);
    const auto adversarial_target = losses::binary_cross_entropy_each(
        discriminate(target.features, batch.inputs.at("target reversal")), 0);

    return {
        {"source", losses::mean_of_weighted(
                       losses::cross_entropy_each(source.logits, batch.source_labels), weights)},
        {"adversarial",
         losses::mean_of_weighted(adversarial_source, weights) + adversarial_target.mean(),
         options_.adversarial_weight},
        {"entropy", losses::entropy_each(target.logits).mean(), options_.entropy_weight},
        {"auxiliary-domain",
         losses::binary_cross_entropy_each(source_domain, 1).mean() +
             losses::binary_cross_entropy_each(target_domain, 0).mean(),
         options_.auxiliary_domain_weight},
        {"auxiliary-classes", losses::leaky_cross_entropy(source_logits, batch.source_labels),
         options_.auxiliary_class_weight}};
  }

 private:
  torch::Tensor discriminate(const torch::Tensor& features, const torch::Tensor& coefficient) {
    return modules_->discriminator->scores(losses::reverse_gradient(features, coefficient));
  }

  // The original means to freeze every batch-norm and reaches only the first one.
  void freeze_stem() {
    const auto children = network_->backbone()->named_children();
    if (const auto* stem = children.find("bn1")) (*stem)->eval();
  }

  EtnOptions options_;
  models::ClassifierNetwork network_;
  std::shared_ptr<EtnModules> modules_;
};

}  // namespace

MethodSpec etn_spec() {
  return {.name = "etn",
          .summary = "adversarial adaptation; source images that look like the target count more",
          .configure = configure<Etn, EtnOptions>,
          .recipe = {.iterations = 20'000,
                     .batch_size = 36,
                     .lr = 1e-4,
                     .added_lr_factor = 10,
                     .momentum_kind = TrainingRecipe::Momentum::kNesterov,
                     .weight_decay = 5e-4,
                     .decay = 1e-3,
                     .decay_until = 10'000,
                     .crop = data::Crop::kRandom,
                     .flip = 0.5,
                     .resize = data::ResizeOptions::Mode::kShorterSide,
                     .source_sampling = TrainingRecipe::Sampling::kClassBalanced,
                     .start = TrainingRecipe::Start::kWeights}};
}

// With ProCA's prototypes against forgetting, as the ProCA paper combines them.
MethodSpec etn_prototypes_spec() {
  return with_prototypes(etn_spec(), "etn-prototypes",
                         "ETN, with prototypes that are aligned and replayed");
}

}  // namespace proca::methods
