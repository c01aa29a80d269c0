#include "methods/parts/with_prototypes.h"

#include "methods/parts/prototype_replay.h"
#include "proca/losses/cross_entropy.h"
#include "proca/models/named_tensors.h"

namespace proca::methods {

using models::NamedTensors;
using models::part_of;
using models::put_part;
namespace {

enum class ReplayLoss {
  kSoft,  ///< ProCA's two: alignment and distillation
  kHard,  ///< cross-entropy with the prototypes' classes
};

struct Values {
  PrototypeOptions prototypes;
  ReplayLoss replay = ReplayLoss::kSoft;

  Values() {
    // The inner method may have put layers in that the source model lacks, so its
    // centres need not fit.
    prototypes.centres = Centres::kAtCapture;
    prototypes.pseudo_label_model = ModelChoice::kSource;
  }

  PrototypeOptions resolved() const {
    auto result = prototypes;
    if (replay == ReplayLoss::kHard) result.centres = Centres::kNever;
    return result;
  }
};

class WithPrototypes final : public Method {
 public:
  WithPrototypes(std::unique_ptr<Method> inner, models::ClassifierNetwork network,
                 const Values& values)
      : values_(values),
        inner_(std::move(inner)),
        network_(network),
        prototypes_(std::move(network), values.resolved()) {}

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override {
    return inner_->auxiliary_modules();
  }
  int64_t extra_epochs(int64_t step) const override { return inner_->extra_epochs(step); }
  // Prototypes are aligned with the source's centres, whatever the inner method needs.
  bool uses_source(int64_t /*step*/) const override { return true; }
  bool trains() const override { return inner_->trains(); }

  void begin_step(const StepContext& context) override {
    inner_->begin_step(context);
    prototypes_.begin_step(context);
  }
  EpochPlan plan_epoch(const StepContext& context) const override {
    return inner_->plan_epoch(context);
  }
  void begin_epoch(const StepContext& context) override {
    inner_->begin_epoch(context);
    prototypes_.begin_epoch(context);
  }

  // The replayed prototypes, then what the inner method wants.
  std::vector<torch::Tensor> prepare(const AdaptationBatch& batch,
                                     const StepContext& context) override {
    auto tensors = prototypes_.replay(context).tensors();
    for (auto& tensor : inner_->prepare(batch, context)) tensors.push_back(std::move(tensor));
    return tensors;
  }
  bool is_repeatable() const override { return inner_->is_repeatable(); }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                       const StepContext& context) override {
    auto inner_batch = batch;
    const auto begin = inner_batch.prepared.begin();
    inner_batch.prepared.erase(begin, begin + PrototypeReplay::Replay::kNumTensors);
    auto terms = inner_->compute_losses(inner_batch, context);
    if (terms.empty()) return terms;  // It passed over this batch.
    const auto replay = PrototypeReplay::Replay::from(batch.prepared);
    if (replay.empty()) return terms;
    const auto output = network_->forward(replay.images);
    if (values_.replay == ReplayLoss::kHard) {
      terms.push_back(
          {"replay", losses::cross_entropy(output.logits, replay.labels), values_.prototypes.eta});
    } else {
      for (auto& term : prototypes_.losses_on(replay, output)) {
        terms.push_back(std::move(term));
      }
    }
    return terms;
  }

  void end_epoch(const StepContext& context) override {
    inner_->end_epoch(context);
    prototypes_.end_epoch(context);
  }
  void end_step(const StepContext& context) override { inner_->end_step(context); }

  adaptation::PrototypeMemory* memory() override { return &prototypes_.memory(); }
  const StepDecisions* decisions() const override { return prototypes_.decisions(); }

  std::map<std::string, torch::Tensor> save() const override {
    NamedTensors state;
    put_part(state, "inner.", inner_->save());
    put_part(state, "prototypes.", prototypes_.save());
    return state;
  }
  void load(const std::map<std::string, torch::Tensor>& state) override {
    inner_->load(part_of(state, "inner."));
    prototypes_.load(part_of(state, "prototypes."));
  }

 private:
  Values values_;
  std::unique_ptr<Method> inner_;
  models::ClassifierNetwork network_;
  PrototypeReplay prototypes_;
};

}  // namespace

MethodSpec with_prototypes(MethodSpec inner, std::string_view name, std::string_view summary) {
  auto configure = [configure = std::move(inner.configure)](OptionSet& options) -> MethodFactory {
    const auto build = configure(options);
    const auto values = std::make_shared<Values>();
    values->prototypes.bind(options);
    options.bind_choice<ReplayLoss>("replay", values->replay, "what prototypes are replayed with",
                                    {{"soft", ReplayLoss::kSoft}, {"hard", ReplayLoss::kHard}});
    return [build, values](const models::ClassifierNetwork& network, uint64_t seed) {
      // First the inner method: it may change how wide the network's features are.
      auto method = build(network, seed);
      return std::make_unique<WithPrototypes>(std::move(method), network, *values);
    };
  };
  return {
      .name = name, .summary = summary, .configure = std::move(configure), .recipe = inner.recipe};
}

}  // namespace proca::methods
