#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/load_options.h"
#include "proca/data/preprocessing.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"

namespace proca::app {

/// A model on its device, with the preprocessing of its images.
struct ModelInput {
  engine::LoadedModel model;
  data::Preprocessing preprocessing;

  const std::vector<std::string>& class_names() const { return model.description.class_names; }
};

/// The options of commands that run a trained model over images.
struct ModelInputOptions {
  engine::ModelOptions model;
  int64_t resize = 0;
  data::ResizeOptions::Mode resize_mode = data::ResizeOptions::Mode::kExact;
  std::optional<data::Orientation> orientation;  ///< empty: the model's
  int64_t crop = 0;
  int64_t batch_size = 0;
  data::LoadOptions load;
  compute::ComputeOptions compute;

  void bind(OptionSet& set);
  /// The model, with the preprocessing that the user changed.
  ModelInput load_model() const;
  /// Each image is used once, so none is cached.
  data::ImageStore make_store(std::shared_ptr<const data::ImageSource> source,
                              const data::Preprocessing& preprocessing) const;
  engine::InferenceOptions inference() const;
};

}  // namespace proca::app
