#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "proca/adaptation/prototype_memory.h"
#include "proca/core/file.h"
#include "proca/state/feature_record.h"
#include "protocol/metrics_json.h"
#include "state/state_writer.h"

namespace proca::test {

// Folders as `proca run` and `proca adapt` leave them, with contents that can be checked by
// hand.

/// Six images of class 0 and four of class 1; after step 1 class 0 has five right.
inline protocol::StepRecord record_after(int64_t step) {
  protocol::StepRecord record;
  const int64_t right = step == 0 ? 3 : 5;
  record.classes = {{0, 6, right}, {1, 4, 1}};
  record.confusion = {{0, 0, right}, {0, 2, 6 - right}, {1, 0, 3}, {1, 1, 1}};
  if (step > 0) {
    record.detection = protocol::DetectionQuality{2, 1, 1};
    record.pseudo_labels = protocol::Tally{6, 4};
  }
  return record;
}

inline state::FeatureRecord few_features(bool labelled) {
  state::FeatureSets sets;
  sets.target.features =
      torch::tensor({{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}, {9.0f, 9.0f, 9.0f}});
  if (labelled) sets.target.labels = {0, 0, 1};
  sets.target.pseudo_labels = {0, 0, 2};
  sets.target.predicted = {0, 2, 0};
  sets.prototypes = {.features = torch::tensor({{0.0f, 1.0f, 1.0f}}), .pseudo_labels = {0}};
  sets.centres = {
      .features = torch::tensor({{1.0f, 1.0f, 1.0f}}), .labels = {2}, .pseudo_labels = {2}};
  return state::make_feature_record(sets);
}

inline std::string detection_text(double score = 0.75) {
  const auto entry = [](int64_t label, double score, bool detected) {
    return nlohmann::json{{"label", label},       {"class", "x"},
                          {"source_share", 0.25}, {"probability_sum", 3.0},
                          {"score", score},       {"cumulative_probability", 0.5},
                          {"detected", detected}};
  };
  return nlohmann::json{{"rule", "scd"},
                        {"alpha", 0.15},
                        {"threshold", 0.15},
                        {"detected", {0, 2}},
                        {"classes", {entry(0, score, true), entry(1, 0, false), entry(2, 1, true)}}}
      .dump();
}

/// A state after one step. `labelled`: with what `proca run` adds.
inline void write_state(const std::filesystem::path& folder, bool labelled, int64_t num_steps = 1) {
  state::StateWriter writer(folder);
  state::Manifest manifest;
  manifest.phase = state::Phase::kReady;
  manifest.step = num_steps;
  manifest.method = num_steps > 0 ? "proca" : "";
  manifest.model.class_names = {"</script><img onerror>", "cup", "fan"};
  writer.put_text("adapt.toml", "method = \"proca\"\nepochs = 2\n\n[method]\nprototypes = 2\n");
  for (int64_t step = 0; step <= num_steps; ++step) {
    const auto place = "steps/0" + std::to_string(step) + "/";
    if (labelled) {
      writer.put_text(place + "metrics.json",
                      protocol::to_json(record_after(step), manifest.model.class_names));
    }
    if (step == 0 && !labelled) continue;
    writer.put_tensors(place + "features.safetensors", few_features(labelled).save(), {});
    if (step == 0) continue;
    writer.put_text(place + "detection.json", detection_text());
    writer.put_text(place + "pseudo_labels.csv",
                    "path,label,class,similarity,first_label,first_class\n"
                    "a.png,0,x,0.9,0,x\n\"b\n,\"\".png\",0,x,0.9,0,x\nc.png,2,fan,0.9,0,x\n");
    writer.put_text(
        place + "prototypes.json",
        nlohmann::json{
            {"prototypes_per_class", 1},
            {"classes_in_memory", step},
            {"bytes_in_memory", 100},
            {"captured",
             {{{"label", step == 1 ? 0 : 2},
               {"class", "x"},
               {"score", 0.5},
               {"images", {{{"path", "a.png"}, {"probability", 0.5}, {"predicted", 0}}}}}}}}
            .dump());
  }
  if (num_steps > 0) {
    adaptation::PrototypeMemory memory(1);
    for (int64_t step = 0; step < num_steps; ++step) {
      memory.put({.label = step == 0 ? 0 : 2,
                  .score = 0.5,
                  .step = step,
                  .pixels = torch::full({1, 8, 8, 3}, 200, torch::kUInt8),
                  .soft_labels = torch::tensor({{0.5f, 0.125f, 0.375f}}),
                  .origins = {"</script>.png"}});
    }
    writer.put_tensors("memory.safetensors", memory.save(), {});
  }
  const std::string events =
      R"({"time":"2026-01-01T10:00:00Z","event":"start","proca":"0.1.0","libtorch":"1.13.0",)"
      R"("device":"a CPU","device_kind":"cpu","threads":2,"precision":"fp32"})"
      "\n"
      R"({"time":"2026-01-01T10:00:05Z","event":"adapt_epoch","step":1,"epoch":1,)"
      R"("loss.source":2.5,"images_per_s":100.0,"seconds":5.0,"data_s":0.5})"
      "\n"
      R"({"time":"2026-01-01T10:00:10Z","event":"adapt_epoch","step":1,"epoch":2,)"
      R"("loss.replay":0.5,"loss.source":1.5,"images_per_s":100.0,"seconds":5.0,"data_s":0.5})"
      "\n"
      R"({"time":"2026-01-01T10:00:11Z","event":"step","step":1,"images":6,)"
      R"("detected_classes":2,"seconds":11.0,"peak_memory_bytes":5000,)"
      R"("peak_gpu_memory_bytes":0})"
      "\n";
  manifest.events_bytes = static_cast<int64_t>(events.size());
  writer.commit(manifest);
  write_file(folder / "events.jsonl", events);
}

inline void write_run_config(const std::filesystem::path& folder) {
  create_writable_folder(folder);
  write_file(folder / "run.toml",
             "preset = \"presets/own.toml\"\nsource = \"sketch\"\ntarget = \"photo\"\n"
             "method = \"proca\"\n\n[method]\nprototypes = 2\n"
             "# step 1: classes 0\n# step 2: classes 1\n");
}

}  // namespace proca::test
