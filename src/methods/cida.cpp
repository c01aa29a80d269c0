// CIDA: class-incremental domain adaptation (Kundu et al., ECCV 2020).
//
// Source-free: the first step begins with a "foresighted" training on the source,
// which leaves a network and one Gaussian per class in a latent space. From then on
// source images are not needed; samples of the Gaussians take their place. Backbone
// and classifier are frozen, and an encoder and a decoder between them are trained so
// that target features gather around guides, one per class. Neither the paper's
// equations nor a program of its authors could be consulted: see docs/methods/cida.md.

#include <fmt/format.h>

#include "losses/guides.h"
#include "methods/parts/cida_adaptation.h"
#include "methods/parts/cida_network.h"
#include "methods/parts/configure.h"
#include "proca/core/error.h"
#include "proca/losses/cross_entropy.h"

namespace proca::methods {

using models::NamedTensors;
using models::part_of;
using models::put_part;
namespace {

struct CidaOptions {
  int64_t source_epochs = 100;
  int64_t warm_up_epochs = 5;
  bool freeze_backbone = false;
  double separation_weight = 0.1;
  CidaAdaptationOptions adaptation;

  void bind(OptionSet& options) {
    options.bind("source-epochs", source_epochs, "of the training on the source, in step 1", 1,
                 1'000'000);
    options.bind("warm-up-epochs", warm_up_epochs,
                 "of the encoder and decoder's training alone, in step 1", 0, 1'000'000);
    options.bind("freeze-backbone", freeze_backbone,
                 "train only the layers behind the backbone on the source");
    options.bind("separation-weight", separation_weight,
                 "weight of the loss that keeps the Gaussians apart", 0.0, 1e6);
    options.bind("adam-lr", adaptation.adam_lr, "learning rate of encoder, decoder and guides", 0.0,
                 10.0);
    options.bind("confident", adaptation.confident,
                 "share of a step's images that follow their guide", 0.0, 1.0);
    options.bind("guide-temperature", adaptation.guide_temperature, "of the cosines to the guides",
                 1e-6, 1e6);
  }
};

class Cida final : public Method {
 public:
  Cida(models::ClassifierNetwork network, const CidaOptions& options, uint64_t seed)
      : options_(options),
        network_(std::move(network), seed),
        adaptation_(network_, options.adaptation) {}

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override { return network_.extra(); }
  int64_t extra_epochs(int64_t step) const override {
    return step == 0 ? options_.source_epochs + options_.warm_up_epochs : 0;
  }
  bool uses_source(int64_t step) const override { return step == 0; }

  EpochPlan plan_epoch(const StepContext& context) const override {
    const bool source = part(context) == Part::kSource;
    return {.source = source, .target = !source};
  }

  void begin_step(const StepContext& context) override {
    if (context.step > 0 && gaussians_.empty()) {
      throw Error(fmt::format("cida: step {} finds no Gaussians of the source, which step 1 makes",
                              context.step + 1));
    }
    adaptation_.begin_step();
  }

  void begin_epoch(const StepContext& context) override {
    if (part(context) == Part::kAdaptation) adaptation_.begin_epoch(gaussians_, context);
  }

  std::vector<OptimizerSpec> optimizers() override { return adaptation_.optimizers(); }
  std::vector<std::string> phases(const StepContext& context) const override {
    if (part(context) == Part::kSource) return {""};  // With the recipe's optimiser.
    return CidaAdaptation::phases(/*is_warm_up=*/part(context) == Part::kWarmUp);
  }

  NamedTensors prepare(const AdaptationBatch& batch, const StepContext& context) override {
    if (part(context) == Part::kSource) return {};
    return adaptation_.prepare(batch.target_ids, gaussians_, context);
  }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                       const StepContext& context) override {
    if (part(context) == Part::kSource) return source_losses(batch, context);
    return adaptation_.compute_losses(batch, gaussians_, context.phase);
  }

  void end_epoch(const StepContext& context) override {
    if (part(context) != Part::kSource) return;
    adaptation::GaussianSums sums(network_.num_classes(), CidaNetwork::kLatentSize);
    context.for_each_source_batch([&](const torch::Tensor& images, const torch::Tensor& labels) {
      sums.add(network_.frozen_latents(images), labels);
    });
    gaussians_ = sums.gaussians(network_.device());
  }

  NamedTensors save() const override {
    NamedTensors state;
    put_part(state, "gaussians.", gaussians_.save());
    put_part(state, "adaptation.", adaptation_.save());
    return state;
  }
  void load(const NamedTensors& state) override {
    gaussians_.load(part_of(state, "gaussians."), network_.device());
    adaptation_.load(part_of(state, "adaptation."));
  }

 private:
  enum class Part { kSource, kWarmUp, kAdaptation };  // of a step
  Part part(const StepContext& context) const {
    if (context.epoch >= extra_epochs(context.step)) return Part::kAdaptation;
    return context.epoch < options_.source_epochs ? Part::kSource : Part::kWarmUp;
  }

  std::vector<LossTerm> source_losses(const AdaptationBatch& batch, const StepContext& context) {
    const auto latents = options_.freeze_backbone
                             ? network_.latents_behind_frozen_backbone(batch.source_images)
                             : network_.latents(batch.source_images);
    std::vector<LossTerm> terms = {
        {"source",
         losses::cross_entropy(network_.classify_with_negative(latents), batch.source_labels)}};
    if (gaussians_.empty()) return terms;  // They are computed after the first epoch.
    terms.push_back(
        {"separation",
         losses::gaussian_separation_loss(latents, batch.source_labels, gaussians_.means(),
                                          gaussians_.variances(), gaussians_.present()),
         options_.separation_weight});
    RandomStream random(context.seed, "negative latents", static_cast<uint64_t>(context.step),
                        static_cast<uint64_t>(context.epoch),
                        static_cast<uint64_t>(context.iteration));
    const auto negatives = gaussians_.sample_negatives(latents.size(0), random);
    const auto negative_class = torch::full_like(batch.source_labels, network_.num_classes());
    terms.push_back({"negatives", losses::cross_entropy(network_.classify_with_negative(negatives),
                                                        negative_class)});
    return terms;
  }

  CidaOptions options_;
  CidaNetwork network_;
  CidaAdaptation adaptation_;
  adaptation::ClassGaussians gaussians_;
};

}  // namespace

MethodSpec cida_spec() {
  return {.name = "cida",
          .summary = "source-free: frozen network, Gaussians for the source, guides per class",
          .configure = configure<Cida, CidaOptions>,
          .recipe = {.epochs = 10,
                     .batch_size = 32,
                     .lr = 1e-3,
                     .added_lr_factor = 10,
                     .momentum = 0.9,
                     .weight_decay = 5e-4,
                     .crop = data::Crop::kRandom,
                     .flip = 0.5,
                     .start = TrainingRecipe::Start::kWeights}};
}

}  // namespace proca::methods
