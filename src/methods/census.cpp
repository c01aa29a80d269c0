// Census: first find out which classes are there, then label, then train.
//
// A whole adaptation ends where its pseudo-labels begin, and these are as good as the
// detection of the step's classes. So every choice here serves that:
//
//   evidence   the source model's probabilities, less what each class gets anyway in images
//              of this look, averaged over neighbours in feature space
//   classes    those that keep enough images when clusters compete for them
//   labels     by clustering over these classes; again as the network improves, by the
//              evidence of both models
//   trust      would the labels be others had the correction been stronger? A step that
//              cannot be trusted is refused, and the network stays as it was
//
// The network minimises cross-entropy on source labels and pseudo-labels, and on the kept
// prototypes ProCA's two losses: L_ce + lambda L_con + eta L_dis.

#include <algorithm>

#include <fmt/format.h>

#include "adaptation/detection/neighbours.h"
#include "adaptation/herding.h"
#include "adaptation/schedule.h"
#include "core/scope_timer.h"
#include "methods/parts/configure.h"
#include "methods/parts/decision_state.h"
#include "methods/parts/prototype_feed.h"
#include "methods/parts/prototype_options.h"
#include "proca/core/error.h"
#include "proca/losses/cross_entropy.h"
#include "proca/losses/prototype_contrastive.h"

namespace proca::methods {
namespace {

using adaptation::ClassPrototypes;

/// What is known about the classes of a step beforehand.
enum class Arrival {
  kAny,  ///< nothing: classes may come back
  kNew,  ///< each class arrives once, as in CI-UDA
};

struct CensusOptions {
  Arrival arrival = Arrival::kAny;
  adaptation::DetectionOptions detection = {.rule = "cluster-mass"};
  int64_t labels_every = 2;  ///< epochs
  int64_t prototypes = 10;   ///< per class
  int64_t memory_budget = 0;
  double lambda = 0.1;  ///< weight of the contrastive loss
  double eta = 1.0;     ///< weight of the distillation loss
  double contrast_temperature = 0.07;

  void bind(OptionSet& options) {
    options.bind_choice<Arrival>("classes", arrival,
                                 "whether a class may come back in a later step, or each step "
                                 "shows new ones only",
                                 {{"any", Arrival::kAny}, {"new", Arrival::kNew}});
    bind_cluster_mass(detection, options);
    options.bind("labels-every", labels_every,
                 "epochs between new pseudo-labels; 0 = those of the beginning stay", 0, 1'000'000);
    options.bind("prototypes", prototypes, "images kept per class", 1, 100'000);
    options.bind_bytes("memory-budget", memory_budget,
                       "most bytes of prototypes, such as 500M; 0 for no limit");
    options.bind("lambda", lambda, "weight of the contrastive loss", 0.0, 1e6);
    options.bind("eta", eta, "weight of the distillation loss", 0.0, 1e6);
    options.bind("contrast-temperature", contrast_temperature, "of the contrastive loss", 1e-6,
                 1e6);
  }
};

// Of a class that a step showed beyond doubt, how likely it is that a later one shows it again
// where classes arrive once.
constexpr double kReturns = 0.03;

class Census final : public Method {
 public:
  Census(models::ClassifierNetwork network, const CensusOptions& options, uint64_t /*seed*/)
      : options_(options),
        network_(std::move(network)),
        feed_(options.prototypes, options.memory_budget, network_->head()->weight.device()) {
    options_.detection.validate();
  }

  void begin_step(const StepContext& context) override;
  EpochPlan plan_epoch(const StepContext& context) const override {
    return {.replayed = context.batch_size};
  }
  void begin_epoch(const StepContext& context) override;
  models::NamedTensors prepare(const AdaptationBatch& batch, const StepContext& context) override;
  bool supports_cuda_graph() const override { return true; }
  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch, const StepContext&) override;
  void end_epoch(const StepContext& context) override;
  void end_step(const StepContext& context) override;

  adaptation::PrototypeMemory* memory() override { return &feed_.memory(); }
  const StepDecisions* decisions() const override { return decisions_ ? &*decisions_ : nullptr; }
  models::NamedTensors save() const override;
  void load(const models::NamedTensors& tensors) override;

 private:
  adaptation::DetectionInput detection_input(const StepContext& context) const;
  const adaptation::SharedClasses& detected(const StepContext& context);
  void label_again(const StepContext& context);
  void capture(int64_t label, const Predictions& predictions, const StepContext& context);
  ClassPrototypes refine(const ClassPrototypes& known, const ClassPrototypes& fresh,
                         const torch::Tensor& fresh_features, const StepContext& context);

  CensusOptions options_;
  models::ClassifierNetwork network_;
  PrototypeFeed feed_;
  std::optional<StepDecisions> decisions_;
  torch::Tensor labels_;   // int64 [N] on the network's device
  torch::Tensor centres_;  // float [K, D] there too
  // With the evidence, a function of the source model and what is known of earlier steps:
  // computed when it is needed, not saved.
  std::optional<adaptation::SharedClasses> detected_;
  // Of all steps so far, by class.
  adaptation::ClassBackground background_;
  std::vector<double> factors_;
};

adaptation::DetectionInput Census::detection_input(const StepContext& context) const {
  const auto source = context.predict_target(ModelChoice::kSource);
  return {
      .probabilities = source.probabilities,
      .source_prior = context.source_prior,
      .features = source.features,
      .neighbours = adaptation::nearest_neighbours(source.features, options_.detection.neighbours),
      .class_factors = options_.arrival == Arrival::kNew ? factors_ : std::vector<double>{},
      .background = background_};
}

const adaptation::SharedClasses& Census::detected(const StepContext& context) {
  if (!detected_) {
    detected_ = adaptation::detect_shared_classes(detection_input(context), options_.detection);
  }
  return *detected_;
}

void Census::begin_step(const StepContext& context) {
  const ScopeTimer timer("taking the census");
  const auto input = detection_input(context);
  detected_ = adaptation::detect_shared_classes(input, options_.detection);
  const auto& shared = *detected_;
  decisions_.emplace();
  decisions_->detection = options_.detection;
  decisions_->source_prior = context.source_prior.to(torch::kCPU, torch::kFloat32);
  decisions_->shared_classes = shared;
  decisions_->pseudo_labels = adaptation::label_by_evidence(input.features, shared);
  decisions_->trust = adaptation::measure_trust(input, options_.detection, shared,
                                                decisions_->pseudo_labels.labels);
  labels_ = decisions_->pseudo_labels.labels.to(network_->head()->weight.device());
  feed_.check_budget(shared.classes, network_->num_classes(), context);
  centres_ = context.source_centres(ModelChoice::kSource);
}

void Census::begin_epoch(const StepContext& context) {
  if (adaptation::is_due(context.epoch, options_.labels_every)) label_again(context);
}

// The network has seen the new look by now, the source model has not unlearned any class: each
// is right where the other is not, so the evidence of both counts alike. Classes stay those
// that were detected; one may lose all its images.
void Census::label_again(const StepContext& context) {
  const ScopeTimer timer("labelling images");
  const auto predictions = context.predict_target(ModelChoice::kCurrent);
  decisions_->pseudo_labels =
      adaptation::label_by_both(predictions.features, predictions.probabilities, detected(context),
                                options_.detection.neighbours);
  labels_ = decisions_->pseudo_labels.labels.to(labels_.device());
}

models::NamedTensors Census::prepare(const AdaptationBatch& batch, const StepContext& context) {
  auto inputs = feed_.prepare(context);
  if (!inputs.empty()) inputs["replay.centres"] = centres_;
  inputs["pseudo labels"] = labels_.index_select(0, batch.target_ids);
  return inputs;
}

std::vector<LossTerm> Census::compute_losses(const AdaptationBatch& batch, const StepContext&) {
  std::vector<torch::Tensor> groups = {batch.source_images, batch.target_images};
  const auto replayed = batch.input("replay.images");
  if (replayed.defined()) groups.push_back(replayed);
  const auto outputs = network_->forward_each(groups);
  std::vector<LossTerm> terms = {
      {"source", losses::cross_entropy(outputs[0].logits, batch.source_labels)},
      {"target", losses::cross_entropy(outputs[1].logits, batch.inputs.at("pseudo labels"))}};
  if (!replayed.defined()) return terms;
  terms.push_back(
      {"alignment",
       losses::prototype_contrastive_loss(outputs[2].features, batch.inputs.at("replay.labels"),
                                          batch.inputs.at("replay.centres"),
                                          {.temperature = options_.contrast_temperature}),
       options_.lambda});
  terms.push_back(
      {"distillation",
       losses::soft_cross_entropy(outputs[2].logits, batch.inputs.at("replay.soft_labels")),
       options_.eta});
  return terms;
}

// Once, when the network is as good as it gets: until then the images themselves are there.
void Census::end_epoch(const StepContext& context) {
  if (context.epoch + 1 < context.num_epochs) return;
  const auto predictions = context.predict_target(ModelChoice::kCurrent);
  const ScopeTimer timer("capturing prototypes");
  for (const int64_t label : decisions_->shared_classes.classes) {
    capture(label, predictions, context);
  }
}

void Census::capture(int64_t label, const Predictions& predictions, const StepContext& context) {
  auto& memory = feed_.memory();
  const bool known = memory.contains(label);
  if (known && options_.arrival == Arrival::kNew) return;  // A mistake, then or now.
  auto members = images_of_class(decisions_->pseudo_labels.labels, label);
  if (members.empty()) return;
  auto chosen =
      choose_prototypes(label, members, predictions, memory.per_class(),
                        {.repeats = adaptation::HerdingOptions::Repeats::kIfNeeded}, context);
  if (known) {
    const auto rows = torch::tensor(chosen.image_ids, torch::kInt64);
    chosen = refine(memory.at(label), chosen, predictions.features.index_select(0, rows), context);
  }
  chosen.score = decisions_->shared_classes.scores[static_cast<size_t>(label)];
  memory.put(std::move(chosen));
}

// A class that returns keeps what it looked like before: old and new prototypes compete by the
// features that the network has for them now.
ClassPrototypes Census::refine(const ClassPrototypes& known, const ClassPrototypes& fresh,
                               const torch::Tensor& fresh_features, const StepContext& context) {
  const torch::NoGradGuard no_grad;
  network_->eval();
  std::vector<torch::Tensor> parts;
  for (const auto& pixels : known.pixels.split(context.batch_size)) {
    parts.push_back(
        network_->forward(context.to_input(pixels)).features.to(torch::kCPU, torch::kFloat32));
  }
  parts.push_back(fresh_features);
  const auto order = adaptation::herd(torch::cat(parts), feed_.memory().per_class(),
                                      {.repeats = adaptation::HerdingOptions::Repeats::kIfNeeded});
  const auto rows = torch::tensor(order, torch::kInt64);
  ClassPrototypes result{.label = known.label, .step = context.step};
  result.pixels = torch::cat({known.pixels, fresh.pixels}).index_select(0, rows);
  result.soft_labels = torch::cat({known.soft_labels, fresh.soft_labels}).index_select(0, rows);
  const auto num_known = static_cast<int64_t>(known.origins.size());
  for (const int64_t row : order) {
    const bool is_known = row < num_known;
    const auto index = static_cast<size_t>(is_known ? row : row - num_known);
    result.image_ids.push_back(is_known ? ClassPrototypes::kNamed : fresh.image_ids[index]);
    result.origins.push_back(is_known ? known.origins[index] : std::string());
  }
  return result;
}

// Evidence for the next steps: what classes got in images that do not show them, and which
// classes have been.
void Census::end_step(const StepContext& context) {
  const auto& shared = detected(context);
  background_.add(shared.log_averages, decisions_->pseudo_labels.labels);
  if (factors_.empty()) factors_.assign(shared.scores.size(), 1.0);
  for (const int64_t label : shared.classes) {
    auto& factor = factors_[static_cast<size_t>(label)];
    const double share = std::min(1.0, shared.scores[static_cast<size_t>(label)]);
    factor = std::min(factor, 1 - share * (1 - kReturns));
  }
}

models::NamedTensors Census::save() const {
  models::NamedTensors state;
  if (decisions_) {
    state = save_decisions(*decisions_);
    state["centres"] = centres_;
  }
  if (!background_.empty()) {
    state["background.sums"] = to_tensor(background_.sums());
    state["background.counts"] = to_tensor(background_.counts());
    state["factors"] = to_tensor(factors_);
  }
  return state;
}

void Census::load(const models::NamedTensors& tensors) {
  detected_.reset();
  if (tensors.contains("shared.classes")) {
    const auto device = network_->head()->weight.device();
    decisions_ = load_decisions(tensors, options_.detection);
    labels_ = decisions_->pseudo_labels.labels.to(device);
    centres_ = saved_tensor(tensors, "centres", torch::kFloat32).to(device);
  }
  if (!tensors.contains("background.sums")) return;
  const auto sums = saved_tensor(tensors, "background.sums", torch::kFloat64);
  const auto counts = saved_tensor(tensors, "background.counts", torch::kInt64);
  const auto factors = saved_tensor(tensors, "factors", torch::kFloat64);
  const int64_t num_classes = network_->num_classes();
  if (sums.numel() != num_classes || counts.numel() != num_classes ||
      factors.numel() != num_classes) {
    throw InputError("method state: the background is not that of as many classes");
  }
  background_ =
      adaptation::ClassBackground::restore(to_vector<double>(sums), to_vector<int64_t>(counts));
  factors_ = to_vector<double>(factors);
}

}  // namespace

MethodSpec census_spec() {
  return {.name = "census",
          .summary = "find the classes that are there, label, train, refuse what cannot be trusted",
          .configure = configure<Census, CensusOptions>,
          .on_doubt = OnDoubt::kSkipRefused};
}

}  // namespace proca::methods
