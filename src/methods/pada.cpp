// PADA: partial adversarial domain adaptation (Cao et al., ECCV 2018).
//
// DANN whose source terms are weighted by class. A class's weight is its mean
// predicted probability over the target images, so source classes that the target
// does not show fade out of the classifier and out of the domain game:
//
//     L_ce weighted by class + w (sum over source and target of a_j BCE_j) / 2B
//
// a_j is the class weight over the largest in the batch for source images, 1 for target.

#include "losses/weighted.h"
#include "methods/parts/adversarial.h"
#include "methods/parts/configure.h"
#include "methods/parts/with_prototypes.h"
#include "proca/losses/gradient_reversal.h"

namespace proca::methods {
namespace {

constexpr double kRampLength = 10'000;  // of the clock

struct PadaOptions {
  Bottleneck bottleneck;
  int64_t refresh_every = 500;
  double softmax_scale = 1;
  double reversal_high = 1;
  double adversarial_weight = 1;

  void bind(OptionSet& options) {
    bottleneck.bind(options);
    options.bind("refresh-every", refresh_every, "iterations between new class weights", 1,
                 1'000'000'000);
    options.bind("softmax-scale", softmax_scale,
                 "times the logits that class weights are computed from", 0.0, 1000.0);
    options.bind("reversal-high", reversal_high, "what the reversed gradient's factor grows to",
                 0.0, 1000.0);
    options.bind("adversarial-weight", adversarial_weight, "weight of the discriminator's loss",
                 0.0, 1e6);
  }
};

models::LinearStart normal(double deviation) {
  return {models::LinearStart::Kind::kNormal, deviation};
}

class Pada final : public ClassWeightedMethod {
 public:
  Pada(models::ClassifierNetwork network, const PadaOptions& options, uint64_t seed)
      : ClassWeightedMethod(
            std::move(network), options.bottleneck, {.neck = normal(0.005), .head = normal(0.01)},
            {.dropout = 0.5, .first = normal(0.01), .second = normal(0.01), .last = normal(0.3)},
            seed),
        options_(options) {}

  models::NamedTensors prepare(const AdaptationBatch& batch, const StepContext& context) override {
    if (completes_interval(context, static_cast<double>(options_.refresh_every))) {
      const auto shares = mean_probabilities(
          context.predict_target(ModelChoice::kCurrent).probabilities, options_.softmax_scale);
      class_weights_.set(shares / shares.mean());
    }
    // The original counts from 1.
    const double coefficient = losses::reversal_ramp(
        (context.clock + context.clock_tick) / kRampLength, 10, options_.reversal_high);
    return {{"reversal", scalar_on(device(), coefficient)},
            {"weights", class_weights_.of(batch.source_labels)}};
  }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    const auto& weights = batch.inputs.at("weights");
    const auto output = forward_jointly(batch, batch.inputs.at("reversal"));
    const auto domain = torch::cat({output.source_losses, output.target_losses});
    const auto domain_weights = torch::cat(
        {weights / weights.max().clamp_min(1e-8), torch::ones_like(output.target_losses)});
    return {{"source",
             losses::weighted_cross_entropy(output.source_logits, batch.source_labels, weights)},
            {"adversarial", losses::mean_of_weighted(domain, domain_weights),
             options_.adversarial_weight}};
  }

 private:
  PadaOptions options_;
};

}  // namespace

MethodSpec pada_spec() {
  return {.name = "pada",
          .summary = "adversarial adaptation; source classes that the target lacks fade out",
          .configure = configure<Pada, PadaOptions>,
          .recipe = {.iterations = 12'004,
                     .batch_size = 36,
                     .lr = 1e-3,
                     .added_lr_factor = 10,
                     .momentum_kind = TrainingRecipe::Momentum::kNesterov,
                     .weight_decay = 5e-4,
                     .decay = 1e-3,
                     .crop = data::Crop::kRandomResized,
                     .flip = 0.5,
                     .start = TrainingRecipe::Start::kWeights}};
}

// With ProCA's prototypes against forgetting, as the ProCA paper combines them.
MethodSpec pada_prototypes_spec() {
  return with_prototypes(pada_spec(), "pada-prototypes",
                         "PADA, with prototypes that are aligned and replayed");
}

}  // namespace proca::methods
