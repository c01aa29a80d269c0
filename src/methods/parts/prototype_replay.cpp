#include "methods/parts/prototype_replay.h"

#include <fmt/format.h>

#include "core/scope_timer.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/losses/cross_entropy.h"

namespace proca::methods {
namespace {

// Of prototypes that a GPU holds: those of 2,800 classes of 224 x 224 pixels.
constexpr int64_t kMirrorBytes = int64_t{4} << 30;

// float64 [n] <-> std::vector, for saving.
torch::Tensor to_tensor(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}
torch::Tensor to_tensor(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}
template <typename T>
std::vector<T> to_vector(const torch::Tensor& tensor) {
  const auto values = tensor.contiguous();
  return {values.data_ptr<T>(), values.data_ptr<T>() + values.numel()};
}

std::vector<int64_t> images_of_class(const torch::Tensor& labels, int64_t label) {
  return to_vector<int64_t>((labels == label).nonzero().flatten());
}

}  // namespace

PrototypeReplay::PrototypeReplay(models::ClassifierNetwork network, const PrototypeOptions& options)
    : options_(options),
      network_(std::move(network)),
      memory_(options.prototypes, options.memory_budget),
      mirror_(device(), device().is_cuda() ? kMirrorBytes : 0) {
  options_.detection.validate();
  options_.resolved_contrast().validate();
}

void PrototypeReplay::begin_step(const StepContext& context) {
  if (options_.memory_budget == 0 && memory_.per_class() < options_.prototypes) {
    log_warning(fmt::format("the memory holds {} prototypes per class and stays at that, not {}",
                            memory_.per_class(), options_.prototypes));
  }
  const auto source = context.predict_target(ModelChoice::kSource);
  const auto& detection = options_.detection_model == ModelChoice::kSource
                              ? source
                              : context.predict_target(ModelChoice::kCurrent);
  decisions_.emplace();
  decisions_->detection = options_.detection;
  decisions_->source_prior = context.source_prior.to(torch::kCPU, torch::kFloat32);
  decisions_->shared_classes = adaptation::detect_shared_classes(
      {.probabilities = detection.probabilities, .source_prior = context.source_prior},
      options_.detection);
  check_budget(context);
  label_images(source);
  centres_.reset();
  if (options_.centres == Centres::kByModel) {
    centres_ = context.source_centres(ModelChoice::kSource);
  }
  refresh_centres(context);
  captures_ = 0;
}

// Without prototypes the centres are not used, and the pass is saved.
void PrototypeReplay::refresh_centres(const StepContext& context) {
  if (options_.centres != Centres::kAtCapture || memory_.size() == 0) return;
  centres_ = context.source_centres(ModelChoice::kCurrent);
}

// Checked now, not when prototypes are captured, hours later.
void PrototypeReplay::check_budget(const StepContext& context) const {
  if (options_.memory_budget == 0) return;
  int64_t num_classes = memory_.num_classes();
  for (const int64_t label : decisions_->shared_classes.classes) {
    if (!memory_.contains(label)) ++num_classes;
  }
  const int64_t bytes = context.target_pixels({0}).numel() +
                        network_->num_classes() * static_cast<int64_t>(sizeof(float));
  if (num_classes * bytes <= options_.memory_budget) return;
  throw InputError(
      fmt::format("--memory-budget: {} bytes are too few for one prototype of each of {} classes, "
                  "{} bytes each",
                  options_.memory_budget, num_classes, bytes));
}

void PrototypeReplay::label_images(const Predictions& predictions) {
  const ScopeTimer timer("labelling images");
  decisions_->pseudo_labels = adaptation::cluster_pseudo_labels(
      predictions.features, predictions.probabilities, decisions_->shared_classes.classes,
      options_.resolved_centroid_space());
  labels_ = decisions_->pseudo_labels.labels.to(device());
}

// Labels and centres of the frozen source model stay the same.
void PrototypeReplay::begin_epoch(const StepContext& context) {
  if (options_.resolved_pseudo_label_model() == ModelChoice::kCurrent &&
      adaptation::is_due(context.epoch, options_.pseudo_labels_every)) {
    label_images(context.predict_target(ModelChoice::kCurrent));
  }
  if (options_.centres == Centres::kByModel &&
      options_.resolved_centre_model() == ModelChoice::kCurrent &&
      adaptation::is_due(context.epoch, options_.centres_every)) {
    centres_ = context.source_centres(ModelChoice::kCurrent);
  }
}

void PrototypeReplay::end_epoch(const StepContext& context) {
  if (options_.capture.captures_after(context.epoch, context.num_epochs)) capture(context);
}

// The first capture of a step adds the classes that are new; later ones also
// replace classes whose score is at least the stored one.
void PrototypeReplay::capture(const StepContext& context) {
  const auto predictions = context.predict_target(ModelChoice::kCurrent);
  const ScopeTimer timer("capturing prototypes");
  for (const int64_t label : decisions_->shared_classes.classes) {
    const double score = decisions_->shared_classes.cumulative[static_cast<size_t>(label)];
    const bool known = memory_.contains(label);
    if (known && (captures_ == 0 || score < memory_.at(label).score)) continue;
    auto chosen = choose_prototypes(label, predictions, context);
    if (chosen.image_ids.empty()) continue;  // No image has this label.
    const bool keeps_score = known && options_.resolved_memory_score() == MemoryScore::kFirst;
    chosen.score = keeps_score ? memory_.at(label).score : score;
    memory_.put(std::move(chosen));
  }
  refresh_centres(context);
  ++captures_;
}

adaptation::ClassPrototypes PrototypeReplay::choose_prototypes(int64_t label,
                                                               const Predictions& predictions,
                                                               const StepContext& context) const {
  const auto members = images_of_class(decisions_->pseudo_labels.labels, label);
  const auto rows = to_tensor(members);
  const auto chosen = adaptation::herd(predictions.features.index_select(0, rows),
                                       memory_.per_class(), options_.resolved_herding());
  adaptation::ClassPrototypes prototypes;
  prototypes.label = label;
  prototypes.step = context.step;
  if (chosen.empty()) return prototypes;
  auto& ids = prototypes.image_ids;
  for (const int64_t index : chosen) ids.push_back(members[static_cast<size_t>(index)]);
  prototypes.pixels = context.target_pixels(ids);
  prototypes.soft_labels = predictions.probabilities.index_select(0, to_tensor(ids));
  return prototypes;
}

torch::Tensor PrototypeReplay::pseudo_labels(const torch::Tensor& target_ids) const {
  return labels_.index_select(0, target_ids);
}

models::NamedTensors PrototypeReplay::prepare(const StepContext& context) {
  const std::vector<int64_t> key = {context.step, context.epoch, context.num_iterations,
                                    context.batch_size, memory_.size()};
  if (key != order_is_for_) {
    order_ = adaptation::replay_batches(memory_.size(), context.batch_size, context.num_iterations,
                                        context.seed, context.step, context.epoch);
    order_is_for_ = key;
  }
  auto indexes = order_.at(static_cast<size_t>(context.iteration));
  // Batch statistics of a single image may be undefined; of it twice, the means are the same.
  if (indexes.size() == 1) indexes.push_back(indexes.front());
  if (indexes.empty()) return {};
  const auto batch = mirror_.gather(memory_, indexes);
  models::NamedTensors inputs = {{"replay.images", context.to_input(batch.pixels)},
                                 {"replay.labels", batch.labels},
                                 {"replay.soft_labels", batch.soft_labels},
                                 {"replay.centres", centres_},
                                 {"replay.negatives", draw_negatives(batch.labels, context)}};
  std::erase_if(inputs, [](const auto& input) { return !input.second.defined(); });
  return inputs;
}

torch::Tensor PrototypeReplay::draw_negatives(const torch::Tensor& labels,
                                              const StepContext& context) const {
  const int64_t count = options_.resolved_negatives();
  if (count == 0) return {};
  RandomStream random(context.seed, "negatives", static_cast<uint64_t>(context.step),
                      static_cast<uint64_t>(context.epoch),
                      static_cast<uint64_t>(context.iteration));
  return losses::sample_negatives(labels, network_->num_classes(), count, random);
}

void PrototypeReplay::add_losses(std::vector<LossTerm>& terms, const AdaptationBatch& batch,
                                 const models::NetworkOutput& output) const {
  terms.push_back(
      {"alignment",
       losses::prototype_contrastive_loss(
           output.features, batch.inputs.at("replay.labels"), batch.inputs.at("replay.centres"),
           options_.resolved_contrast(), batch.input("replay.negatives")),
       options_.lambda});
  terms.push_back({"distillation",
                   losses::soft_cross_entropy(output.logits, batch.inputs.at("replay.soft_labels")),
                   options_.eta});
}

models::NamedTensors PrototypeReplay::save() const {
  if (!decisions_) return {};
  const auto& shared = decisions_->shared_classes;
  const auto& pseudo = decisions_->pseudo_labels;
  models::NamedTensors state = {
      {"shared.classes", to_tensor(shared.classes)},
      {"shared.sums", to_tensor(shared.sums)},
      {"shared.cumulative", to_tensor(shared.cumulative)},
      {"shared.scores", to_tensor(shared.scores)},
      {"shared.threshold", to_tensor(std::vector<double>{shared.threshold})},
      {"pseudo.labels", pseudo.labels},
      {"pseudo.first_labels", pseudo.first_labels},
      {"pseudo.similarities", pseudo.similarities},
      {"source_prior", decisions_->source_prior},
      {"captures", to_tensor(std::vector<int64_t>{captures_})}};
  if (centres_.defined()) state["centres"] = centres_;
  return state;
}

void PrototypeReplay::load(const models::NamedTensors& tensors) {
  if (tensors.empty()) return;
  const auto get = [&](const std::string& name, torch::Dtype type) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.scalar_type() != type) {
      throw InputError(fmt::format("method state: {} is missing or of another type", name));
    }
    return found->second;
  };
  decisions_.emplace();
  decisions_->detection = options_.detection;
  auto& shared = decisions_->shared_classes;
  shared.classes = to_vector<int64_t>(get("shared.classes", torch::kInt64));
  shared.sums = to_vector<double>(get("shared.sums", torch::kFloat64));
  shared.cumulative = to_vector<double>(get("shared.cumulative", torch::kFloat64));
  shared.scores = to_vector<double>(get("shared.scores", torch::kFloat64));
  shared.threshold = get("shared.threshold", torch::kFloat64).item<double>();
  decisions_->pseudo_labels = {.labels = get("pseudo.labels", torch::kInt64),
                               .first_labels = get("pseudo.first_labels", torch::kInt64),
                               .similarities = get("pseudo.similarities", torch::kFloat64)};
  decisions_->source_prior = get("source_prior", torch::kFloat32);
  labels_ = decisions_->pseudo_labels.labels.to(device());
  centres_.reset();
  if (options_.centres == Centres::kByModel || tensors.contains("centres")) {
    centres_ = get("centres", torch::kFloat32).to(device());
  }
  captures_ = get("captures", torch::kInt64).item<int64_t>();
}

}  // namespace proca::methods
