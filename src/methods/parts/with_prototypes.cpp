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
    // The inner method may have inserted layers that the source model lacks, so the source
    // model's centres may not fit.
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
        prototypes_(std::move(network), values.resolved()) {
    TORCH_CHECK(inner_->optimizers().empty(), "prototypes need a method of one optimiser");
  }

  std::shared_ptr<torch::nn::Module> auxiliary_modules() override {
    return inner_->auxiliary_modules();
  }
  int64_t extra_epochs(int64_t step) const override { return inner_->extra_epochs(step); }
  // Prototypes are aligned with the source centres, whatever the inner method needs.
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

  // The names of both differ: those of prototypes begin with "replay.".
  models::NamedTensors prepare(const AdaptationBatch& batch, const StepContext& context) override {
    auto inputs = prototypes_.prepare(context);
    inputs.merge(inner_->prepare(batch, context));
    return inputs;
  }
  bool supports_cuda_graph() const override { return inner_->supports_cuda_graph(); }

  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                       const StepContext& context) override {
    auto terms = inner_->compute_losses(batch, context);
    const auto replayed = batch.input("replay.images");
    if (terms.empty() || !replayed.defined()) return terms;  // Empty: it skipped this batch.
    const auto output = network_->forward(replayed);
    if (values_.replay == ReplayLoss::kHard) {
      terms.push_back({"replay",
                       losses::cross_entropy(output.logits, batch.inputs.at("replay.labels")),
                       values_.prototypes.eta});
    } else {
      prototypes_.add_losses(terms, batch, output);
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

  NamedTensors save() const override {
    NamedTensors state;
    put_part(state, "inner.", inner_->save());
    put_part(state, "prototypes.", prototypes_.save());
    return state;
  }
  void load(const NamedTensors& state) override {
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
  auto configure_both = [inner_options =
                             std::move(inner.configure)](OptionSet& options) -> MethodFactory {
    const auto build = inner_options(options);
    const auto values = std::make_shared<Values>();
    values->prototypes.bind(options);
    options.bind_choice<ReplayLoss>("replay", values->replay, "what prototypes are replayed with",
                                    {{"soft", ReplayLoss::kSoft}, {"hard", ReplayLoss::kHard}});
    return [build, values](const models::ClassifierNetwork& network, uint64_t seed) {
      // First the inner method: it may change the size of the network's features.
      auto method = build(network, seed);
      return std::make_unique<WithPrototypes>(std::move(method), network, *values);
    };
  };
  return {.name = name,
          .summary = summary,
          .configure = std::move(configure_both),
          .recipe = inner.recipe};
}

}  // namespace proca::methods
