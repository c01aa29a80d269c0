#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "proca/config/options.h"
#include "proca/models/classifier_network.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

/// A network and what it was made for.
struct LoadedModel {
  models::ClassifierNetwork network{nullptr};
  state::ModelDescription description;
  /// Labels of the classes that the model has been adapted to, ascending; nothing
  /// for a model that does not come from a state.
  std::optional<std::vector<int64_t>> adapted_classes = {};
};

/// An untrained network for `description`, on the CPU. `folder` is where a
/// script backbone lies that is kept in a state.
models::ClassifierNetwork build_network(const state::ModelDescription& description,
                                        std::optional<uint64_t> seed,
                                        const std::filesystem::path& folder = {});

/// Throws `InputError` naming `folder` unless its source training has ended.
void check_ready(const state::Manifest& manifest, const std::filesystem::path& folder);

/// Opens a state whose source training has ended; else throws `InputError`.
state::StateDirectory open_ready(const std::filesystem::path& folder);

/// The current model of a state. Throws `InputError` if its source training has
/// not ended.
LoadedModel load_model(const state::StateDirectory& state);

/// The model of a state after a step: 0 is the source model, the others are the current one
/// and those that the state keeps. Throws `InputError` naming these if it is none of them.
LoadedModel load_model_of_step(const std::filesystem::path& state, int64_t step);

/// A model from a weight file alone: the number of classes is that of its head,
/// and class names, image size and stride are taken from its metadata where it
/// has them. Without class names the classes are called by their number.
LoadedModel load_model(const std::string& backbone, const std::filesystem::path& weights,
                       std::optional<models::StrideIn> stride_in);

/// Which model a command works with: `--state DIR`, or `--backbone NAME
/// --weights FILE`.
struct ModelOptions {
  std::string state;
  std::optional<int64_t> step;  ///< of the state; empty: the last
  std::string backbone;
  std::string weights;
  std::optional<models::StrideIn> stride_in;

  void bind(OptionSet& options);
  /// Throws `InvalidOption` unless exactly one of the two ways is given.
  LoadedModel load() const;
};

}  // namespace proca::engine
