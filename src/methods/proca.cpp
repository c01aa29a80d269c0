// ProCA: prototype-guided continual adaptation (Lin et al., ECCV 2022).
//
// At every step the classes present are detected from cumulative probabilities,
// the target images are pseudo-labelled by clustering, and a few images per class
// are kept. The network trains on
//
//     L_ce + lambda L_con + eta L_dis
//
// L_ce on source labels and pseudo-labels; L_con pulls kept prototypes to the source
// centres of their classes (align); L_dis keeps its answers on them (do not forget).

#include "methods/parts/prototype_replay.h"
#include "proca/losses/cross_entropy.h"
#include "proca/methods/method.h"

namespace proca::methods {
namespace {

class Proca final : public Method {
 public:
  Proca(models::ClassifierNetwork network, const PrototypeOptions& options)
      : network_(network), prototypes_(std::move(network), options) {}

  void begin_step(const StepContext& context) override { prototypes_.begin_step(context); }
  EpochPlan plan_epoch(const StepContext& context) const override {
    return {.own_images = context.batch_size};
  }
  void begin_epoch(const StepContext& context) override { prototypes_.begin_epoch(context); }
  void end_epoch(const StepContext& context) override { prototypes_.end_epoch(context); }

  // The replayed prototypes, then the pseudo-labels of the batch.
  std::vector<torch::Tensor> prepare(const AdaptationBatch& batch,
                                     const StepContext& context) override {
    auto tensors = prototypes_.replay(context).tensors();
    tensors.push_back(prototypes_.pseudo_labels(batch.target_ids));
    return tensors;
  }
  bool is_repeatable() const override { return true; }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override {
    const auto replay = PrototypeReplay::Replay::from(batch.prepared);
    std::vector<torch::Tensor> groups = {batch.source_images, batch.target_images};
    if (!replay.empty()) groups.push_back(replay.images);
    const auto outputs = network_->forward_each(groups);
    std::vector<LossTerm> terms = {
        {"source", losses::cross_entropy(outputs[0].logits, batch.source_labels)},
        {"target", losses::cross_entropy(outputs[1].logits, batch.prepared.back())}};
    for (auto& term : prototypes_.losses_on(replay, outputs.back())) {
      terms.push_back(std::move(term));
    }
    return terms;
  }

  adaptation::PrototypeMemory* memory() override { return &prototypes_.memory(); }
  const StepDecisions* decisions() const override { return prototypes_.decisions(); }
  std::map<std::string, torch::Tensor> save() const override { return prototypes_.save(); }
  void load(const std::map<std::string, torch::Tensor>& tensors) override {
    prototypes_.load(tensors);
  }

 private:
  models::ClassifierNetwork network_;
  PrototypeReplay prototypes_;
};

}  // namespace

MethodSpec proca_spec() {
  return {.name = "proca",
          .summary = "detect classes, pseudo-label, keep prototypes, align and replay them",
          .configure = [](OptionSet& options) -> MethodFactory {
            const auto values = std::make_shared<PrototypeOptions>();
            values->bind(options);
            return [values](models::ClassifierNetwork network, uint64_t /*seed*/) {
              return std::make_unique<Proca>(std::move(network), *values);
            };
          }};
}

}  // namespace proca::methods
