#pragma once

#include <filesystem>
#include <string>

#include "engine/run_identity.h"
#include "proca/engine/adapter.h"

namespace proca::engine {

/// The note that says that the source images were those that the state keeps, and which.
inline constexpr const char* kSourceNote = "source images";

/// What decides the result of a step, given the state before it.
struct StepSettings {
  const AdaptOptions& options;
  const methods::MethodOptions::Resolved& method;
  const methods::TrainingRecipe& recipe;
  bool trains = true;  ///< whether the method does
  torch::Device device = torch::kCPU;
  /// What identifies the source images, where they are not those of the folder.
  std::string source = {};
};

RunIdentity identify_step(const StepSettings& settings, const data::ImageStore& images);

/// An identity from a state as this program would have written it. States of format versions
/// 1 to 3 leave out the precision and have a checksum over a sample of the pixels: they count
/// as equal to `mine` where they cannot be told apart. `images` are those of `mine`.
RunIdentity upgraded(RunIdentity theirs, const RunIdentity& mine, const data::ImageStore& images);

/// The method that the state in `folder` has been adapted with, or that its first step under way
/// is of; empty: none yet.
std::string method_of_state(const std::filesystem::path& folder);

/// An identity without what it says of the source images.
RunIdentity without_source(RunIdentity identity);

/// Whether two steps are on the same images, whatever their options. Both identities must be of
/// the current version.
bool have_same_images(const RunIdentity& one, const RunIdentity& other);

}  // namespace proca::engine
