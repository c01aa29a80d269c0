#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace proca::state {

/// The version that is written; 1 to this one are read.
inline constexpr int64_t kFormatVersion = 3;

// The files of a state directory, as docs/formats/state_directory.md describes them.
inline constexpr const char* kManifestFile = "state.json";
inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kEventsFile = "events.jsonl";
inline constexpr const char* kStepsFolder = "steps";
inline constexpr const char* kHistoryFolder = "history";
inline constexpr const char* kConfigFile = "config.toml";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kSourceFile = "source.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kScriptFile = "backbone.pt";
inline constexpr const char* kCentresFile = "centres.safetensors";
inline constexpr const char* kKeptSourceFile = "kept_source.safetensors";
inline constexpr const char* kMemoryFile = "memory.safetensors";
inline constexpr const char* kMethodFile = "method.safetensors";
inline constexpr const char* kAdaptFile = "adapt.toml";
// In the folder of a step.
inline constexpr const char* kFeaturesFile = "features.safetensors";
inline constexpr const char* kDetectionFile = "detection.json";
inline constexpr const char* kPseudoLabelsFile = "pseudo_labels.csv";
inline constexpr const char* kPrototypesFile = "prototypes.json";
inline constexpr const char* kStepOptionsFile = "options.toml";
inline constexpr const char* kMetricsFile = "metrics.json";
inline constexpr const char* kPredictionsFile = "predictions.csv";
inline constexpr const char* kHealthFile = "health.json";
// Of `proca watch`; no checkpoint has them.
inline constexpr const char* kWatchFile = "watch.json";
inline constexpr const char* kWatchLogFile = "watch.jsonl";
inline constexpr const char* kWatchLockFile = "watch.lock";
// Of a step under way; the model of the step before stays in place.
inline constexpr const char* kTrainingFile = "training.safetensors";
inline constexpr const char* kTrainingMemoryFile = "training_memory.safetensors";
inline constexpr const char* kTrainingAdaptFile = "training.toml";

/// `steps/07/detection.json` for step 7, counted from 1.
std::string step_file_name(int64_t step, const std::string& name);

/// Whether a state has a file of that name in its folder, complete or left by a writer that was
/// killed.
bool is_state_file(const std::string& name);
/// Whether it is one of `proca watch`, which alone writes and removes it.
bool is_watch_file(const std::string& name);
/// Whether it was left by a writer that was killed: staged or half-written.
bool is_leftover(const std::string& name);

/// Where the next content of a file is staged.
inline std::filesystem::path next_of(const std::filesystem::path& path) {
  return path.string() + ".next";
}

// Unlike std::filesystem's, these do not throw.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}
inline bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}
// Behind a link are the files of others.
inline bool is_own_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return is_folder(path) && !std::filesystem::is_symlink(path, ignored);
}

}  // namespace proca::state
