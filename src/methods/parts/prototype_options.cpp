#include "methods/parts/prototype_options.h"

#include "adaptation/detection/detection_rules.h"

namespace proca::methods {
namespace {

using adaptation::CentroidSpace;
using adaptation::HerdingOptions;
using Models = std::vector<std::pair<std::string, std::optional<ModelChoice>>>;
using GroupWeights = adaptation::DetectionOptions::GroupWeights;

// The value of the chosen variant, unless one was set.
template <typename T>
T choose(const std::optional<T>& set, Variant variant, T paper, T authors_code) {
  return set.value_or(variant == Variant::kPaper ? paper : authors_code);
}

const Models kModels = {
    {"auto", std::nullopt}, {"source", ModelChoice::kSource}, {"current", ModelChoice::kCurrent}};

void bind_detection(PrototypeOptions& values, OptionSet& options) {
  std::vector<std::pair<std::string, std::string>> rules;
  for (const auto& rule : adaptation::detection_rules()) {
    rules.emplace_back(rule.name, rule.name);
  }
  options.bind_choice<std::string>("detection", values.detection.rule,
                                   "how to tell which classes a step shows", rules);
  const auto needs_rule = [&](const std::string& rule) {
    options.idle_unless([&values, rule] { return values.detection.rule == rule; },
                        "--detection " + rule);
  };
  options.bind("alpha", values.detection.alpha, "threshold of scd", 0.0, 1.0);
  needs_rule("scd");
  options.bind_choice<GroupWeights>(
      "hbw-weights", values.detection.hbw_weights, "how hbw weighs its two groups",
      {{"count", GroupWeights::kCount}, {"mass", GroupWeights::kMass}});
  needs_rule("hbw");
  options.bind("label-shift-temperature", values.detection.temperature,
               "softens the probabilities of label-shift", 0.01, 1000.0);
  needs_rule("label-shift");
  bind_cluster_mass(values.detection, options, [&] { needs_rule("cluster-mass"); });
  options.bind_choice<ModelChoice>(
      "detection-model", values.detection_model, "whose probabilities detection uses",
      {{"source", ModelChoice::kSource}, {"current", ModelChoice::kCurrent}});
}

void bind_pseudo_labels(PrototypeOptions& values, OptionSet& options) {
  options.bind_choice<std::optional<ModelChoice>>(
      "pseudo-label-model", values.pseudo_label_model,
      "whose features are clustered; the first time in a step always the source model's", kModels);
  options.bind("pseudo-labels-every", values.pseudo_labels_every,
               "epochs between new pseudo-labels of the current model", 1, 1'000'000);
  options.idle_unless(
      [&values] { return values.resolved_pseudo_label_model() == ModelChoice::kCurrent; },
      "--pseudo-label-model current");
  options.bind_choice<std::optional<CentroidSpace>>(
      "centroid-space", values.centroid_space, "features as they are, or [q; 1] normalised",
      {{"auto", std::nullopt}, {"raw", CentroidSpace::kRaw}, {"unit", CentroidSpace::kUnit}});
}

void bind_memory(PrototypeOptions& values, OptionSet& options) {
  options.bind("prototypes", values.prototypes, "images kept per class", 1, 100'000);
  options.bind_bytes("memory-budget", values.memory_budget,
                     "most bytes of prototypes, such as 500M; 0 for no limit");
  options.bind("capture-first", values.capture.first,
               "epoch (from 0) after which prototypes are first captured", 0, 1'000'000);
  options.bind("capture-every", values.capture.every, "and again after every multiple of this", 1,
               1'000'000);
  options.bind_choice<std::optional<HerdingOptions::Features>>(
      "herding-features", values.herding_features, "features as they are, or normalised",
      {{"auto", std::nullopt},
       {"raw", HerdingOptions::Features::kRaw},
       {"unit", HerdingOptions::Features::kUnit}});
  options.bind_choice<std::optional<HerdingOptions::Repeats>>(
      "herding-repeats", values.herding_repeats, "whether an image may be chosen twice",
      {{"auto", std::nullopt},
       {"allowed", HerdingOptions::Repeats::kAllowed},
       {"if-needed", HerdingOptions::Repeats::kIfNeeded}});
  options.bind_choice<std::optional<MemoryScore>>(
      "memory-score", values.memory_score, "score of a class whose prototypes were replaced",
      {{"auto", std::nullopt}, {"first", MemoryScore::kFirst}, {"highest", MemoryScore::kHighest}});
}

void bind_losses(PrototypeOptions& values, OptionSet& options) {
  options.bind("lambda", values.lambda, "weight of the contrastive loss", 0.0, 1e6);
  options.bind("eta", values.eta, "weight of the distillation loss", 0.0, 1e6);
  if (values.centres == Centres::kByModel) {
    options.bind_choice<std::optional<ModelChoice>>(
        "centre-model", values.centre_model,
        "whose features the source centres are; at first always the source model's", kModels);
    options.bind("centres-every", values.centres_every,
                 "epochs between new centres of the current model", 1, 1'000'000);
    options.idle_unless(
        [&values] { return values.resolved_centre_model() == ModelChoice::kCurrent; },
        "--centre-model current");
  }
  options.bind("contrast-temperature", values.contrast_temperature, "of the contrastive loss", 1e-6,
               1e6);
  options.bind_auto("contrast-margin", values.contrast_margin,
                    "taken off the similarity to the own centre", 0.0, 2.0);
  options.bind_auto<int64_t>("contrast-negatives", values.contrast_negatives,
                             "other classes drawn per prototype; 0 = all of them", 0, 1'000'000);
  options.bind_choice<losses::Similarity>("contrast-similarity", values.contrast_similarity,
                                          "of a prototype and a centre",
                                          {{"cosine", losses::Similarity::kCosine},
                                           {"inner-product", losses::Similarity::kInnerProduct}});
}

}  // namespace

void bind_cluster_mass(adaptation::DetectionOptions& detection, OptionSet& options,
                       const std::function<void()>& after_each) {
  options.bind("background-correction", detection.correction,
               "how much of what a class gets anyway cluster-mass takes off its evidence", 0.0,
               1.0);
  after_each();
  options.bind("neighbours", detection.neighbours,
               "images that each one is averaged with, by cluster-mass", 0, 1000);
  after_each();
  options.bind("candidate-share", detection.candidate_share,
               "candidates of cluster-mass have more than this / classes of the images", 0.0, 0.99);
  after_each();
  options.bind("least-mass", detection.least_mass,
               "cluster-mass drops classes below this times the mean mass", 0.0, 0.99);
  after_each();
}

void PrototypeOptions::bind(OptionSet& options) {
  options.bind_choice<Variant>(
      "variant", variant, "what options on auto follow",
      {{"paper", Variant::kPaper}, {"authors-code", Variant::kAuthorsCode}});
  bind_detection(*this, options);
  bind_pseudo_labels(*this, options);
  bind_memory(*this, options);
  bind_losses(*this, options);
}

ModelChoice PrototypeOptions::resolved_pseudo_label_model() const {
  return choose(pseudo_label_model, variant, ModelChoice::kCurrent, ModelChoice::kSource);
}

CentroidSpace PrototypeOptions::resolved_centroid_space() const {
  return choose(centroid_space, variant, CentroidSpace::kRaw, CentroidSpace::kUnit);
}

HerdingOptions PrototypeOptions::resolved_herding() const {
  using enum HerdingOptions::Features;
  using enum HerdingOptions::Repeats;
  return {.features = choose(herding_features, variant, kRaw, kUnit),
          .repeats = choose(herding_repeats, variant, kIfNeeded, kAllowed)};
}

MemoryScore PrototypeOptions::resolved_memory_score() const {
  return choose(memory_score, variant, MemoryScore::kHighest, MemoryScore::kFirst);
}

ModelChoice PrototypeOptions::resolved_centre_model() const {
  return choose(centre_model, variant, ModelChoice::kCurrent, ModelChoice::kSource);
}

losses::PrototypeContrastiveOptions PrototypeOptions::resolved_contrast() const {
  return {.temperature = contrast_temperature,
          .margin = choose(contrast_margin, variant, 0.0, 0.3),
          .similarity = contrast_similarity};
}

int64_t PrototypeOptions::resolved_negatives() const {
  return choose<int64_t>(contrast_negatives, variant, 0, 10);
}

}  // namespace proca::methods
