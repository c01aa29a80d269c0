// BA3US: balanced and uncertainty-aware alignment (Liang et al., ECCV 2020).
//
// A target of few classes is filled up with source images, fewer in every round, so
// that the discriminator has nothing to gain from classes the target lacks; the wrong
// classes' probabilities are flattened on source images that the network is unsure of:
//
//     L_ce weighted by class + L_adv + b mean entropy of the target + cot L_cot
//
// Class weights gamma are the mean probabilities over the target images, from the
// second round on. See docs/methods/ba3us.md for the weights of L_adv.

#include <algorithm>

#include "losses/complement_entropy.h"
#include "losses/weighted.h"
#include "methods/parts/adversarial.h"
#include "methods/parts/configure.h"
#include "methods/parts/with_prototypes.h"
#include "proca/losses/gradient_reversal.h"

namespace proca::methods {
namespace {

constexpr models::LinearStart kXavier = {models::LinearStart::Kind::kXavierNormal, 0};

struct Ba3usOptions {
  Bottleneck bottleneck;
  double cot_weight = 5;
  double entropy_weight = 0.1;
  int64_t augmentation_divisor = 4;

  void bind(OptionSet& options) {
    bottleneck.bind(options);
    options.bind("cot-weight", cot_weight, "weight of the complement entropy", 0.0, 1e6);
    options.bind("entropy-weight", entropy_weight, "weight of the entropy of target images", 0.0,
                 1e6);
    options.bind("augmentation-divisor", augmentation_divisor,
                 "at first one source image per so many target images is added to the target", 1,
                 1'000'000);
  }
};

class Ba3us final : public ClassWeightedMethod {
 public:
  Ba3us(models::ClassifierNetwork network, const Ba3usOptions& options, uint64_t seed)
      : ClassWeightedMethod(
            std::move(network), options.bottleneck, {.neck = kXavier, .head = kXavier},
            {.dropout = 0.5, .first = kXavier, .second = kXavier, .last = kXavier}, seed),
        options_(options) {}

  EpochPlan plan_epoch(const StepContext& context) const override {
    const int64_t most = context.batch_size / options_.augmentation_divisor;
    const int64_t rounds_left = std::max<int64_t>(context.num_epochs - context.epoch, 0);
    return {.extra_source = most * rounds_left / context.num_epochs};
  }

  void begin_epoch(const StepContext& context) override {
    if (context.epoch == 0) return;
    class_weights_.set(
        mean_probabilities(context.predict_target(ModelChoice::kCurrent).probabilities));
  }

  // Nothing for a batch that is skipped: all of its classes have the weight 0.
  models::NamedTensors prepare(const AdaptationBatch& batch, const StepContext& context) override {
    const auto weights = class_weights_.of(batch.source_labels);
    if (class_weights_.some_are_zero() && weights.sum().item<double>() == 0) return {};
    // The original counts from 0 for entropies, from 1 for features.
    const auto iterations = static_cast<double>(context.step_iterations);
    models::NamedTensors inputs = {
        {"entropy reversal", scalar_on(device(), losses::reversal_ramp(context.progress))},
        {"feature reversal",
         scalar_on(device(), losses::reversal_ramp(context.progress + 1 / iterations))},
        {"weights", weights}};
    if (batch.extra_source_labels.defined()) {
      inputs["extra weights"] = class_weights_.of(batch.extra_source_labels);
    }
    return inputs;
  }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    const auto weights = batch.input("weights");
    if (!weights.defined()) return {};
    const auto outputs = forward(batch);
    return {{"source",
             losses::weighted_cross_entropy(outputs.front().logits, batch.source_labels, weights)},
            {"adversarial", adversarial_loss(outputs, batch)},
            {"entropy", losses::entropy_each(outputs[1].logits).mean(), options_.entropy_weight},
            {"complement",
             losses::complement_entropy(outputs.front().logits, batch.source_labels, weights),
             options_.cot_weight}};
  }

 private:
  // Source, target and, where there are any, the extra source images.
  std::vector<models::NetworkOutput> forward(const AdaptationBatch& batch) {
    std::vector<torch::Tensor> groups = {batch.source_images, batch.target_images};
    const auto extra = batch.extra_source_images;
    if (!extra.defined() || extra.size(0) == 0) return network_->forward_each(groups);
    const int64_t count = extra.size(0);
    // One image alone may have no batch statistics; twice, the means are the same.
    groups.push_back(count == 1 ? torch::cat({extra, extra}) : extra);
    auto outputs = network_->forward_each(groups);
    outputs[2] = {outputs[2].features.narrow(0, 0, count), outputs[2].logits.narrow(0, 0, count)};
    return outputs;
  }

  // 1 + exp(-H): certain images count for more. The gradient is reversed here too.
  static torch::Tensor certainty(const torch::Tensor& logits, const torch::Tensor& coefficient) {
    return 1 + (-losses::reverse_gradient(losses::entropy_each(logits), coefficient)).exp();
  }

  torch::Tensor adversarial_loss(const std::vector<models::NetworkOutput>& outputs,
                                 const AdaptationBatch& batch) {
    const auto& entropy_reversal = batch.inputs.at("entropy reversal");
    const auto domain_loss = [&](const models::NetworkOutput& output, double domain) {
      return losses::binary_cross_entropy_each(
          discriminate(output.features, batch.inputs.at("feature reversal")), domain);
    };

    // Source images on either side share a sum of weights; the target has its own.
    auto source_weights =
        certainty(outputs[0].logits, entropy_reversal) * batch.inputs.at("weights");
    auto source_losses = domain_loss(outputs[0], 1);
    double total = 1;
    if (outputs.size() == 3) {
      total += static_cast<double>(outputs[2].logits.size(0)) /
               static_cast<double>(batch.source_images.size(0));
      source_weights = torch::cat({source_weights, certainty(outputs[2].logits, entropy_reversal) *
                                                       batch.inputs.at("extra weights")});
      source_losses = torch::cat({source_losses, domain_loss(outputs[2], 0)});
    }
    const auto target_weights = certainty(outputs[1].logits, entropy_reversal);
    return losses::average_by_weight(
        torch::cat({source_losses, domain_loss(outputs[1], 0)}),
        torch::cat({total * source_weights / source_weights.detach().sum(),
                    target_weights / target_weights.detach().sum()}));
  }

  Ba3usOptions options_;
};

}  // namespace

MethodSpec ba3us_spec() {
  return {.name = "ba3us",
          .summary = "adversarial adaptation; source images balance a target of few classes",
          .configure = configure<Ba3us, Ba3usOptions>,
          .recipe = {.iterations = 2'000,
                     .batch_size = 36,
                     .lr = 1e-4,
                     .added_lr_factor = 10,
                     .momentum_kind = TrainingRecipe::Momentum::kNesterov,
                     .weight_decay = 1e-3,
                     .decay = 1e-3,
                     .crop = data::Crop::kRandom,
                     .flip = 0.5,
                     .start = TrainingRecipe::Start::kWeights}};
}

// With ProCA's prototypes against forgetting, as the ProCA paper combines them.
MethodSpec ba3us_prototypes_spec() {
  return with_prototypes(ba3us_spec(), "ba3us-prototypes",
                         "BA3US, with prototypes that are aligned and replayed");
}

}  // namespace proca::methods
