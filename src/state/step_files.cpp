#include "state/step_files.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <torch/types.h>

#include "core/files/csv.h"
#include "core/json_text.h"
#include "state/state_files.h"

namespace proca::state {

using Json = nlohmann::ordered_json;

std::string step_file_name(int64_t step, const std::string& name) {
  return fmt::format("{}/{:02}/{}", kStepsFolder, step, name);
}

namespace {

/// Why `cluster-mass` kept or dropped a class, for people.
std::string why(const adaptation::SharedClasses& shared, size_t k) {
  const auto round = shared.dropped_in[k];
  if (round < 0) return "no candidate: hardly any evidence for it";
  if (round == 0) return fmt::format("kept: {:.2f} of the mean mass", shared.scores[k]);
  return fmt::format("dropped in round {}: {:.2f} of the mean mass is below {}", round,
                     shared.scores[k], shared.threshold);
}

}  // namespace

std::string health_json(const adaptation::StepHealth& health, bool trained) {
  Json json{{"verdict", adaptation::verdict_word(health.verdict)},
            {"reason", health.reason},
            {"trust", health.trust},
            {"images", health.images},
            {"classes_found", health.classes_found},
            {"agreement", health.agreement},
            {"confidence_before", health.confidence_before}};
  if (health.confidence_after) json["confidence_after"] = *health.confidence_after;
  if (health.changed) json["changed"] = *health.changed;
  json["kept_model"] = trained ? "adapted" : "previous";
  return json_text(json, 1);
}

std::string detection_json(const methods::StepDecisions& decisions,
                           const std::vector<std::string>& class_names) {
  const auto& options = decisions.detection;
  const auto& shared = decisions.shared_classes;
  Json json{{"rule", options.rule}};
  if (options.rule == "scd") json["alpha"] = options.alpha;
  if (options.rule == "hbw") {
    const bool by_count = options.hbw_weights == adaptation::DetectionOptions::GroupWeights::kCount;
    json["weights"] = by_count ? "count" : "mass";
  }
  if (options.rule == "label-shift") json["temperature"] = options.temperature;
  if (options.rule == "cluster-mass") {
    json["background_correction"] = options.correction;
    json["neighbours"] = options.neighbours;
    json["candidate_share"] = options.candidate_share;
  }
  json["threshold"] = shared.threshold;
  json["detected"] = shared.classes;
  json["classes"] = Json::array();
  const auto& prior = decisions.source_prior;
  for (size_t k = 0; k < shared.cumulative.size(); ++k) {
    const bool detected =
        std::binary_search(shared.classes.begin(), shared.classes.end(), static_cast<int64_t>(k));
    json["classes"].push_back({{"label", k},
                               {"class", class_names[k]},
                               {"source_share", prior[static_cast<int64_t>(k)].item<float>()},
                               {"probability_sum", shared.sums[k]},
                               {"cumulative_probability", shared.cumulative[k]},
                               {"score", shared.scores[k]},
                               {"detected", detected}});
    if (!shared.dropped_in.empty()) json["classes"].back()["why"] = why(shared, k);
  }
  return json_text(json, 1);
}

std::string pseudo_labels_csv(const methods::StepDecisions& decisions,
                              const data::ImageStore& target,
                              const std::vector<std::string>& class_names) {
  const auto& pseudo = decisions.pseudo_labels;
  const auto* labels = pseudo.labels.data_ptr<int64_t>();
  const auto* first = pseudo.first_labels.data_ptr<int64_t>();
  const auto* similarities = pseudo.similarities.data_ptr<double>();
  std::string text = "path,label,class,similarity,first_label,first_class\n";
  for (int64_t i = 0; i < target.size(); ++i) {
    text += fmt::format("{},{},{},{:.6f},{},{}\n", csv_field(target.sample(i).path), labels[i],
                        csv_field(class_names[static_cast<size_t>(labels[i])]), similarities[i],
                        first[i], csv_field(class_names[static_cast<size_t>(first[i])]));
  }
  return text;
}

std::string predictions_csv(const std::vector<int64_t>& predictions,
                            const data::ImageStore& labelled) {
  std::string text = "path,label,predicted\n";
  for (size_t i = 0; i < predictions.size(); ++i) {
    const auto& sample = labelled.sample(static_cast<int64_t>(i));
    text += fmt::format("{},{},{}\n", csv_field(sample.path), sample.label, predictions[i]);
  }
  return text;
}

std::string prototypes_json(const adaptation::PrototypeMemory& memory, int64_t step,
                            const std::vector<std::string>& class_names) {
  Json json{{"prototypes_per_class", memory.per_class()},
            {"classes_in_memory", memory.num_classes()},
            {"bytes_in_memory", memory.bytes()},
            {"captured", Json::array()}};
  for (const auto& entry : memory.classes()) {
    if (entry.step != step) continue;
    Json images = Json::array();
    const auto soft = entry.soft_labels.contiguous();
    for (size_t i = 0; i < entry.origins.size(); ++i) {
      const auto row = soft[static_cast<int64_t>(i)];
      images.push_back({{"path", entry.origins[i]},
                        {"probability", row[entry.label].item<float>()},
                        {"predicted", row.argmax().item<int64_t>()}});
    }
    json["captured"].push_back({{"label", entry.label},
                                {"class", class_names[static_cast<size_t>(entry.label)]},
                                {"score", entry.score},
                                {"images", images}});
  }
  return json_text(json, 1);
}

void add_labelled_classes(const methods::StepDecisions& decisions, std::vector<int64_t>& classes) {
  const auto labels = decisions.pseudo_labels.labels.contiguous();
  std::set<int64_t> all(classes.begin(), classes.end());
  all.insert(labels.data_ptr<int64_t>(), labels.data_ptr<int64_t>() + labels.numel());
  classes.assign(all.begin(), all.end());
}

}  // namespace proca::state
