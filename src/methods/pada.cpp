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
#include "methods/parts/bottleneck.h"
#include "methods/parts/class_weights.h"
#include "methods/parts/discriminator.h"
#include "proca/losses/gradient_reversal.h"
#include "proca/methods/method.h"

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

DiscriminatorOptions discriminator_for(int64_t feature_size) {
  using Kind = models::LinearStart::Kind;
  return {.inputs = feature_size,
          .dropout = 0.5,
          .first = {Kind::kNormal, 0.01},
          .second = {Kind::kNormal, 0.01},
          .last = {Kind::kNormal, 0.3}};
}

class Pada final : public Method {
 public:
  Pada(models::ClassifierNetwork network, const PadaOptions& options, uint64_t seed)
      : options_(options),
        network_(std::move(network)),
        class_weights_(network_->head()->weight.device()) {
    using Kind = models::LinearStart::Kind;
    options_.bottleneck.prepare(
        network_, {.neck = {Kind::kNormal, 0.005}, .head = {Kind::kNormal, 0.01}}, seed);
    discriminator_ = Discriminator(discriminator_for(network_->feature_size()), seed);
    discriminator_->to(network_->head()->weight.device());
  }

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override { return discriminator_.ptr(); }

  // The last step's classes say nothing about this one's.
  void begin_step(const StepContext&) override { class_weights_.reset(); }

  // How strong the reversal is, and how much each source image counts.
  std::vector<torch::Tensor> prepare(const AdaptationBatch& batch,
                                     const StepContext& context) override {
    if (completes_interval(context, static_cast<double>(options_.refresh_every))) {
      const auto shares = mean_probabilities(
          context.predict_target(ModelChoice::kCurrent).probabilities, options_.softmax_scale);
      class_weights_.set(shares / shares.mean());
    }
    // The original counts from 1.
    const double coefficient = losses::reversal_ramp(
        (context.clock + context.clock_tick) / kRampLength, 10, options_.reversal_high);
    auto tensors = device_scalars({coefficient}, network_->head()->weight.device());
    tensors.push_back(class_weights_.of(batch.source_labels));
    return tensors;
  }
  bool is_repeatable() const override { return true; }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    const auto &coefficient = batch.prepared.at(0), &weights = batch.prepared.at(1);
    discriminator_->train(network_->is_training());

    const int64_t num_source = batch.source_images.size(0);
    const int64_t num_target = batch.target_images.size(0);
    const auto output = network_->forward(torch::cat({batch.source_images, batch.target_images}));

    const auto scores =
        discriminator_->scores(losses::reverse_gradient(output.features, coefficient));
    const auto domain = torch::cat(
        {losses::binary_cross_entropy_each(scores.narrow(0, 0, num_source), 1),
         losses::binary_cross_entropy_each(scores.narrow(0, num_source, num_target), 0)});
    const auto domain_weights =
        torch::cat({weights / weights.max().clamp_min(1e-8),
                    torch::ones_like(scores).narrow(0, num_source, num_target)});
    return {{"source", losses::weighted_cross_entropy(output.logits.narrow(0, 0, num_source),
                                                      batch.source_labels, weights)},
            {"adversarial", losses::mean_of_weighted(domain, domain_weights),
             options_.adversarial_weight}};
  }

  std::map<std::string, torch::Tensor> save() const override { return class_weights_.save(); }
  void load(const std::map<std::string, torch::Tensor>& tensors) override {
    class_weights_.load(tensors);
  }

 private:
  PadaOptions options_;
  models::ClassifierNetwork network_;
  Discriminator discriminator_{nullptr};
  ClassWeights class_weights_;
};

}  // namespace

MethodSpec pada_spec() {
  return {.name = "pada",
          .summary = "adversarial adaptation; source classes that the target lacks fade out",
          .configure = [](OptionSet& options) -> MethodFactory {
            const auto values = std::make_shared<PadaOptions>();
            values->bind(options);
            return [values](models::ClassifierNetwork network, uint64_t seed) {
              return std::make_unique<Pada>(std::move(network), *values, seed);
            };
          },
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

}  // namespace proca::methods
