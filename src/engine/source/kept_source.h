#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/data/image_source.h"
#include "proca/models/named_tensors.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

/// The source images that a state keeps, and what it knows of all that they stand for:
/// `kept_source.safetensors` (docs/formats/state_directory.md).
struct KeptSource {
  torch::Tensor pixels;              ///< uint8 [n, S, S, 3]
  torch::Tensor labels;              ///< int64 [n], in the order of all source images
  std::vector<std::string> origins;  ///< [n]: the images' names
  torch::Tensor counts;              ///< int64 [K]: all source images, by class
  torch::Tensor centres;             ///< float [K, D]: of all, by the source model

  int64_t size() const { return labels.size(0); }
  /// Of the class that has most.
  int64_t per_class() const;
  int64_t bytes() const { return pixels.numel(); }
  /// How many source images there were.
  int64_t num_source_images() const { return counts.sum().item<int64_t>(); }
  /// Share of each class among all source images, float [K].
  torch::Tensor prior() const;

  /// The kept images, with their labels; `origin` names them in messages.
  std::shared_ptr<const data::ImageSource> images(const std::vector<std::string>& class_names,
                                                  const std::string& origin) const;

  models::NamedTensors save() const;
  /// Restores what `save` returned: throws `InputError` naming `origin` when something is
  /// missing or does not fit.
  static KeptSource load(const models::NamedTensors& tensors, int64_t num_classes,
                         const std::string& origin);
};

/// Those of a state that has them (`state::kKeptSourceFile`).
KeptSource read_kept_source(const state::StateDirectory& state);

}  // namespace proca::engine
