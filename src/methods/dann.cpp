// DANN: domain-adversarial training (Ganin and Lempitsky, ICML 2015), with the settings
// of the Transfer-Learning-Library's example for partial adaptation.
//
// A discriminator tells source features from target features; behind a gradient
// reversal, the features learn to leave it guessing:
//
//     L_ce + w (BCE(D(source), 1) + BCE(D(target), 0)) / 2
//
// All source classes are aligned with the few that a step shows.

#include "losses/weighted.h"
#include "methods/parts/bottleneck.h"
#include "methods/parts/discriminator.h"
#include "proca/losses/cross_entropy.h"
#include "proca/losses/gradient_reversal.h"
#include "proca/methods/method.h"

namespace proca::methods {
namespace {

// Of the clock, over which the reversal goes up with the exponent 1.
constexpr double kRampLength = 1000;

struct DannOptions {
  Bottleneck bottleneck;
  double adversarial_weight = 1;
  double ramp_steepness = 1;

  void bind(OptionSet& options) {
    bottleneck.bind(options);
    options.bind("adversarial-weight", adversarial_weight, "weight of the discriminator's loss",
                 0.0, 1e6);
    options.bind("ramp-steepness", ramp_steepness,
                 "how fast the reversed gradient grows: the exponent after 1000 iterations", 0.0,
                 1e6);
  }
};

class Dann final : public Method {
 public:
  Dann(models::ClassifierNetwork network, const DannOptions& options, uint64_t seed)
      : options_(options), network_(std::move(network)) {
    options_.bottleneck.prepare(network_, {.behind_linear = ", batch-norm, relu"}, seed);
    discriminator_ = Discriminator(DiscriminatorOptions{.inputs = network_->feature_size(),
                                                        .norm = DiscriminatorOptions::Norm::kBatch},
                                   seed);
    discriminator_->to(network_->head()->weight.device());
  }

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override { return discriminator_.ptr(); }

  // How strong the reversal is.
  std::vector<torch::Tensor> prepare(const AdaptationBatch&, const StepContext& context) override {
    return device_scalars(
        {losses::reversal_ramp(context.clock / kRampLength, options_.ramp_steepness)},
        network_->head()->weight.device());
  }
  bool is_repeatable() const override { return true; }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    // One forward pass: both domains share the batch-norm statistics.
    const int64_t num_source = batch.source_images.size(0);
    const int64_t num_target = batch.target_images.size(0);
    const auto output = network_->forward(torch::cat({batch.source_images, batch.target_images}));

    const auto scores =
        discriminator_->scores(losses::reverse_gradient(output.features, batch.prepared.front()));
    const auto source = losses::binary_cross_entropy_each(scores.narrow(0, 0, num_source), 1);
    const auto target =
        losses::binary_cross_entropy_each(scores.narrow(0, num_source, num_target), 0);
    return {{"source",
             losses::cross_entropy(output.logits.narrow(0, 0, num_source), batch.source_labels)},
            {"adversarial", 0.5 * (source.mean() + target.mean()), options_.adversarial_weight}};
  }

 private:
  DannOptions options_;
  models::ClassifierNetwork network_;
  Discriminator discriminator_{nullptr};
};

}  // namespace

MethodSpec dann_spec() {
  return {.name = "dann",
          .summary = "features that a discriminator cannot tell by domain",
          .configure = [](OptionSet& options) -> MethodFactory {
            const auto values = std::make_shared<DannOptions>();
            values->bind(options);
            return [values](models::ClassifierNetwork network, uint64_t seed) {
              return std::make_unique<Dann>(std::move(network), *values, seed);
            };
          },
          .recipe = {.iterations = 20'000,
                     .batch_size = 36,
                     .lr = 2e-4,
                     .added_lr_factor = 10,
                     .momentum_kind = TrainingRecipe::Momentum::kNesterov,
                     .weight_decay = 1e-3,
                     .decay = 1e-3,
                     .crop = data::Crop::kRandomResized,
                     .flip = 0.5,
                     .start = TrainingRecipe::Start::kWeights}};
}

}  // namespace proca::methods
