#pragma once

#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/load_options.h"
#include "proca/data/preprocessing.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"

namespace proca::app {

/// The options of commands that run a trained model over images.
struct ModelInputOptions {
  engine::ModelOptions model;
  int64_t resize = 0;
  data::ResizeOptions::Mode resize_mode = data::ResizeOptions::Mode::kExact;
  int64_t crop = 0;
  int64_t batch_size = 0;
  data::LoadOptions load;
  compute::ComputeOptions compute;

  void bind(OptionSet& set);
  /// The model's preprocessing with what the user changed about it.
  data::Preprocessing preprocessing(const engine::LoadedModel& model) const;
  engine::InferenceOptions inference(torch::Device device) const;
};

}  // namespace proca::app
