#include "report/collect/seed_reader.h"

#include <string_view>
#include <unordered_map>

#include "core/files/path.h"
#include "core/parallel.h"
#include "experiments/run_results.h"
#include "proca/core/file.h"
#include "proca/state/state_directory.h"
#include "protocol/metrics_json.h"
#include "report/collect/event_reader.h"
#include "report/collect/pictures.h"
#include "report/collect/prototype_reader.h"
#include "report/collect/step_reader.h"
#include "state/state_files.h"

namespace proca::report {
namespace {

namespace fs = std::filesystem;

void put(Json& json, const char* key, Json value) {
  if (!value.is_null()) json[key] = std::move(value);
}

// Of a run that is not finished: from the steps that have been measured. Only the results know the
// classes of S-1 accuracy; until then it is null.
Json metrics_so_far(const RunFrame& frame, const std::vector<StepReader>& steps,
                    const fs::path& state) {
  protocol::ClassSchedule schedule{.steps = frame.schedule, .first_classes = {}};
  if (steps.empty() || !steps.front().record()) return nullptr;
  std::vector<protocol::StepRecord> records;
  for (size_t i = 1; i < steps.size() && steps[i].record(); ++i) {
    records.push_back(*steps[i].record());
  }
  if (records.empty() || records.size() > schedule.steps.size()) return nullptr;
  return reading((state / "steps").string(), [&] {
    auto metrics = Json::parse(
        protocol::to_json(protocol::summarise(schedule, steps.front().record()->classes, records)));
    for (auto& step : metrics["steps"]) step["relative_accuracy_drop_percent"] = nullptr;
    return metrics;
  });
}

Json finished_metrics(const RunFolders::Seed& seed) {
  const auto path = seed.part / "results.json";
  if (!seed.number || !is_there(path)) return nullptr;
  auto metrics = experiments::results_of_seed(read_text_file(path), *seed.number, path.string());
  if (!metrics.is_null()) protocol::run_metrics_from_json(metrics.dump(), path.string());  // checks
  return metrics;
}

// What a picture is drawn from, and the index of its step in the document.
struct Picture {
  size_t step;
  state::FeatureRecord features;
};

// The true classes of the prototypes, where the images of the target have labels.
void add_true_labels(Json& prototypes, const std::vector<LabelledPrediction>& predictions) {
  std::unordered_map<std::string_view, int64_t> label_of;
  for (const auto& image : predictions) label_of.emplace(image.name, image.label);
  for (auto& entry : prototypes) {
    if (!entry.contains("images")) continue;
    for (auto& image : entry["images"]) {
      const auto found = label_of.find(image.at("path").get_ref<const std::string&>());
      if (found != label_of.end()) image["true_label"] = found->second;
    }
  }
}

void draw(const std::vector<Picture>& pictures, Detail::Pictures kind, Json& steps) {
  parallel_for(static_cast<int64_t>(pictures.size()), available_cores(), [&](int64_t i) {
    const auto& [step, features] = pictures[static_cast<size_t>(i)];
    steps[step]["embedding"] = embedding_json(features, kind);
  });
}

// A run has trained its source model in a folder of its own.
Json training_of(const RunFolders::Seed& seed, const Events& events) {
  if (!events.training.is_null() || !seed.number) return events.training;
  const auto source = seed.part / fmt::format("source-{}", *seed.number);
  if (!state::StateDirectory::exists(source)) return nullptr;
  const auto manifest = state::StateDirectory::read_manifest(source);
  return read_events(source / state::kEventsFile, manifest.events_bytes, manifest.events_crc)
      .training;
}

}  // namespace

Json read_seed(const RunFolders::Seed& seed, const RunFrame& frame, const Detail& detail) {
  const state::StateDirectory state(seed.state, [&](const std::string& file) {
    const bool is_memory = file == state::kMemoryFile && detail.thumbnails_per_seed > 0;
    return file.starts_with(state::kStepsFolder) || is_memory;
  });
  const auto& manifest = state.manifest();
  const auto num_classes = static_cast<int64_t>(manifest.model.class_names.size());
  const auto events =
      read_events(seed.state / state::kEventsFile, manifest.events_bytes, manifest.events_crc);
  std::vector<StepReader> readers;
  for (int64_t step = 0; step <= manifest.step; ++step) readers.emplace_back(state, step);

  Json json = {{"seed", seed.number ? Json(*seed.number) : Json()}};
  auto metrics = finished_metrics(seed);
  put(json, "metrics", metrics.is_null() ? metrics_so_far(frame, readers, seed.state) : metrics);
  json["steps"] = Json::array();
  std::vector<Picture> pictures;
  PrototypeHistory history(state, num_classes);
  for (int64_t number = 0; number <= manifest.step; ++number) {
    const auto& reader = readers[static_cast<size_t>(number)];
    auto features = detail.pictures == Detail::Pictures::kNone ? std::nullopt : reader.features();
    if (number == 0 && !reader.record() && !features) continue;
    Json step = {{"step", number}};
    put(step, "classes", reader.classes());
    put(step, "confusion", reader.confusion());
    if (number > 0) {
      if (const auto event = events.steps.find(number); event != events.steps.end()) {
        step.update(event->second);
      }
      const auto index = static_cast<size_t>(number - 1);
      const auto* present = index < frame.schedule.size() ? &frame.schedule[index] : nullptr;
      put(step, "detection", reader.detection(present));
      put(step, "pseudo_labels", reader.pseudo_labels());
      auto prototypes = history.after(number, detail);
      if (number == manifest.step && detail.thumbnails_per_seed > 0) {
        auto current = current_prototypes(state, num_classes, detail);
        if (!current.is_null()) prototypes = std::move(current);
      }
      const auto predictions = reader.predictions();
      if (number == manifest.step && !predictions.empty() && detail.mistakes_per_seed > 0) {
        step["mistakes"] = mistakes_json(predictions, frame.target, detail.mistakes_per_seed);
      }
      add_true_labels(prototypes, predictions);
      put(step, "prototypes", std::move(prototypes));
      put(step, "health", reader.health());
    }
    if (features) pictures.push_back({json["steps"].size(), std::move(*features)});
    json["steps"].push_back(std::move(step));
  }
  draw(pictures, detail.pictures, json["steps"]);
  put(json, "losses", events.losses);
  put(json, "training", training_of(seed, events));
  put(json, "machine", events.machine);
  return json;
}

}  // namespace proca::report
