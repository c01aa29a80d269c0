// DANN: domain-adversarial training (Ganin and Lempitsky, ICML 2015), with the settings
// of the Transfer-Learning-Library's example for partial adaptation.
//
// A discriminator tells source features from target features; behind a gradient
// reversal, the features learn to leave it guessing:
//
//     L_ce + w (BCE(D(source), 1) + BCE(D(target), 0)) / 2
//
// All source classes are aligned with the few that a step shows.

#include "methods/parts/adversarial.h"
#include "methods/parts/configure.h"
#include "proca/losses/cross_entropy.h"
#include "proca/losses/gradient_reversal.h"

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

class Dann final : public AdversarialMethod {
 public:
  Dann(models::ClassifierNetwork network, const DannOptions& options, uint64_t seed)
      : AdversarialMethod(std::move(network), options.bottleneck,
                          {.behind_linear = ", batch-norm, relu"},
                          {.norm = DiscriminatorOptions::Norm::kBatch}, seed),
        options_(options) {}

  models::NamedTensors prepare(const AdaptationBatch&, const StepContext& context) override {
    return {{"reversal", scalar_on(device(), losses::reversal_ramp(context.clock / kRampLength,
                                                                   options_.ramp_steepness))}};
  }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    const auto output = forward_jointly(batch, batch.inputs.at("reversal"));
    return {{"source", losses::cross_entropy(output.source_logits, batch.source_labels)},
            {"adversarial", 0.5 * (output.source_losses.mean() + output.target_losses.mean()),
             options_.adversarial_weight}};
  }

 private:
  DannOptions options_;
};

}  // namespace

MethodSpec dann_spec() {
  return {.name = "dann",
          .summary = "features that a discriminator cannot tell by domain",
          .configure = configure<Dann, DannOptions>,
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
