// ProCA: prototype-guided continual adaptation (Lin et al., ECCV 2022).
//
// At every step the classes present are detected from cumulative probabilities,
// the target images are pseudo-labelled by clustering, and a few images per class
// are kept. The network minimises
//
//     L_ce + lambda L_con + eta L_dis
//
// L_ce on source labels and pseudo-labels; L_con pulls kept prototypes to the source
// centres of their classes (align); L_dis keeps the predictions on them (do not forget).

#include "methods/parts/configure.h"
#include "methods/parts/prototype_replay.h"
#include "proca/losses/cross_entropy.h"

namespace proca::methods {
namespace {

class Proca final : public Method {
 public:
  Proca(models::ClassifierNetwork network, const PrototypeOptions& options, uint64_t /*seed*/)
      : network_(network), prototypes_(std::move(network), options) {}

  void begin_step(const StepContext& context) override { prototypes_.begin_step(context); }
  EpochPlan plan_epoch(const StepContext& context) const override {
    return {.replayed = context.batch_size};
  }
  void begin_epoch(const StepContext& context) override { prototypes_.begin_epoch(context); }
  void end_epoch(const StepContext& context) override { prototypes_.end_epoch(context); }

  models::NamedTensors prepare(const AdaptationBatch& batch, const StepContext& context) override {
    auto inputs = prototypes_.prepare(context);
    inputs["pseudo labels"] = prototypes_.pseudo_labels(batch.target_ids);
    return inputs;
  }
  bool supports_cuda_graph() const override { return true; }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    std::vector<torch::Tensor> groups = {batch.source_images, batch.target_images};
    const auto replayed = batch.input("replay.images");
    if (replayed.defined()) groups.push_back(replayed);
    const auto outputs = network_->forward_each(groups);
    std::vector<LossTerm> terms = {
        {"source", losses::cross_entropy(outputs[0].logits, batch.source_labels)},
        {"target", losses::cross_entropy(outputs[1].logits, batch.inputs.at("pseudo labels"))}};
    if (replayed.defined()) prototypes_.add_losses(terms, batch, outputs[2]);
    return terms;
  }

  adaptation::PrototypeMemory* memory() override { return &prototypes_.memory(); }
  const StepDecisions* decisions() const override { return prototypes_.decisions(); }
  models::NamedTensors save() const override { return prototypes_.save(); }
  void load(const models::NamedTensors& tensors) override { prototypes_.load(tensors); }

 private:
  models::ClassifierNetwork network_;
  PrototypeReplay prototypes_;
};

}  // namespace

MethodSpec proca_spec() {
  return {.name = "proca",
          .summary = "detect classes, pseudo-label, keep prototypes, align and replay them",
          .configure = configure<Proca, PrototypeOptions>};
}

}  // namespace proca::methods
