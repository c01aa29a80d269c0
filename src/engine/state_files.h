#pragma once

namespace proca::engine {

// The files of a state directory, as docs/formats/state_directory.md describes them.
inline constexpr const char* kConfigFile = "config.toml";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kSourceFile = "source.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kScriptFile = "backbone.pt";
inline constexpr const char* kCentresFile = "centres.safetensors";
inline constexpr const char* kMemoryFile = "memory.safetensors";
inline constexpr const char* kMethodFile = "method.safetensors";
inline constexpr const char* kAdaptFile = "adapt.toml";
// In the folder of a step.
inline constexpr const char* kFeaturesFile = "features.safetensors";
// Of a step under way: the model of the step before stays where everybody finds it.
inline constexpr const char* kTrainingFile = "training.safetensors";
inline constexpr const char* kTrainingMemoryFile = "training_memory.safetensors";
inline constexpr const char* kTrainingAdaptFile = "training.toml";

}  // namespace proca::engine
