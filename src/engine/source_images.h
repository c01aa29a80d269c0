#pragma once

#include <memory>
#include <optional>

#include <torch/types.h>

#include "proca/data/load_options.h"
#include "proca/engine/inference.h"
#include "proca/engine/state_directory.h"

namespace proca::engine {

/// The labelled source images a state was trained on, opened where the state says
/// they are, with what adaptation asks about them.
class SourceImages {
 public:
  /// Throws `InputError` naming state and path when they are no longer there.
  SourceImages(const StateDirectory& state, const data::LoadOptions& load,
               const InferenceOptions& inference);

  const data::ImageStore& store() const { return *store_; }
  /// Share of each class, float [K].
  const torch::Tensor& prior() const { return prior_; }
  /// Tells these images from others, by name, label and content.
  const std::string& description() const { return description_; }
  /// Mean feature per class, float [K, D] on the device: a pass over all images.
  torch::Tensor centres(const models::ClassifierNetwork& network) const;

 private:
  data::Preprocessing preprocessing_;
  InferenceOptions inference_;
  std::string description_;
  std::optional<data::ImageStore> store_;
  torch::Tensor labels_;  // int64 [N]
  torch::Tensor prior_;
};

}  // namespace proca::engine
