#pragma once

#include <functional>
#include <optional>
#include <string>

#include <torch/types.h>

#include "engine/frozen_cache.h"
#include "engine/state_session.h"
#include "engine/step_images.h"
#include "proca/engine/inference.h"

namespace proca::engine {

/// The frozen source model of a state. Its outputs never change, so each pass over images is
/// done once: the class centres are then kept in the state, and every output in the cache, if
/// there is one. The network itself is loaded by the first pass.
class SourceModel {
 public:
  /// `session` must outlive it.
  SourceModel(StateSession& session, const InferenceOptions& inference, FrozenCache cache);

  /// Copies the weights of `network`, which are those of the source model, so that a GPU need
  /// not be sent them again.
  void copy_weights(const models::ClassifierNetwork& network);

  /// Its outputs on all images of a step.
  methods::Predictions predict(const data::ImageStore& target, const InferenceOptions& inference);
  /// The mean features of the source classes, float [K, D], on the device.
  torch::Tensor centres(StepImages& source, const InferenceOptions& inference);
  /// The same if they have been computed in any process; else undefined.
  torch::Tensor known_centres() const;

 private:
  const models::ClassifierNetwork& network();
  std::string cache_key(const std::string& what, const std::string& images) const;

  StateSession& session_;
  state::ModelDescription model_;
  torch::Device device_;
  compute::Precision precision_;
  FrozenCache cache_;
  std::string fingerprint_;  // of its files
  models::NamedTensors weights_;
  models::ClassifierNetwork network_{nullptr};
  torch::Tensor centres_;
  models::WeightFile saved_centres_;  // of the state; empty if it has none
};

}  // namespace proca::engine
