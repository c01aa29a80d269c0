#include "methods/parts/prototype_replay.h"

#include "core/scope_timer.h"
#include "methods/parts/decision_state.h"
#include "proca/losses/cross_entropy.h"

namespace proca::methods {
PrototypeReplay::PrototypeReplay(models::ClassifierNetwork network, const PrototypeOptions& options)
    : options_(options),
      network_(std::move(network)),
      feed_(options.prototypes, options.memory_budget, device()) {
  options_.detection.validate();
  options_.resolved_contrast().validate();
}

void PrototypeReplay::begin_step(const StepContext& context) {
  const auto source = context.predict_target(ModelChoice::kSource);
  const auto& detection = options_.detection_model == ModelChoice::kSource
                              ? source
                              : context.predict_target(ModelChoice::kCurrent);
  decisions_.emplace();
  decisions_->detection = options_.detection;
  decisions_->source_prior = context.source_prior.to(torch::kCPU, torch::kFloat32);
  decisions_->shared_classes =
      adaptation::detect_shared_classes({.probabilities = detection.probabilities,
                                         .source_prior = context.source_prior,
                                         .features = detection.features},
                                        options_.detection);
  feed_.check_budget(decisions_->shared_classes.classes, network_->num_classes(), context);
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
  if (options_.centres != Centres::kAtCapture || memory().size() == 0) return;
  centres_ = context.source_centres(ModelChoice::kCurrent);
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
    const bool known = memory().contains(label);
    if (known && (captures_ == 0 || score < memory().at(label).score)) continue;
    auto chosen =
        choose_prototypes(label, images_of_class(decisions_->pseudo_labels.labels, label),
                          predictions, memory().per_class(), options_.resolved_herding(), context);
    if (chosen.image_ids.empty()) continue;  // No image has this label.
    const bool keeps_score = known && options_.resolved_memory_score() == MemoryScore::kFirst;
    chosen.score = keeps_score ? memory().at(label).score : score;
    memory().put(std::move(chosen));
  }
  refresh_centres(context);
  ++captures_;
}

torch::Tensor PrototypeReplay::pseudo_labels(const torch::Tensor& target_ids) const {
  return labels_.index_select(0, target_ids);
}

models::NamedTensors PrototypeReplay::prepare(const StepContext& context) {
  auto inputs = feed_.prepare(context);
  if (inputs.empty()) return inputs;
  const auto negatives = draw_negatives(inputs.at("replay.labels"), context);
  if (centres_.defined()) inputs["replay.centres"] = centres_;
  if (negatives.defined()) inputs["replay.negatives"] = negatives;
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
  auto state = save_decisions(*decisions_);
  state["captures"] = torch::tensor(std::vector<int64_t>{captures_}, torch::kInt64);
  if (centres_.defined()) state["centres"] = centres_;
  return state;
}

void PrototypeReplay::load(const models::NamedTensors& tensors) {
  if (tensors.empty()) return;
  decisions_ = load_decisions(tensors, options_.detection);
  labels_ = decisions_->pseudo_labels.labels.to(device());
  centres_.reset();
  if (options_.centres == Centres::kByModel || tensors.contains("centres")) {
    centres_ = saved_tensor(tensors, "centres", torch::kFloat32).to(device());
  }
  captures_ = saved_tensor(tensors, "captures", torch::kInt64).item<int64_t>();
}

}  // namespace proca::methods
