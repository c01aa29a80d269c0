#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include <torch/types.h>

#include "engine/frozen_cache.h"
#include "engine/source_images.h"
#include "proca/data/image_store.h"
#include "proca/engine/inference.h"
#include "proca/methods/method.h"
#include "state/state_writer.h"
#include "training/feeds/pixel_normaliser.h"

namespace proca::engine {

/// What the source model and the current network say about source and target
/// images, and the images themselves: all that a method may ask the engine in a
/// step. The frozen source model is asked once; its centres are kept in the state, and
/// all it says in a cache for other runs, if there is one.
class StepViews {
 public:
  /// `network` is the current one, on the device.
  /// `writer` holds the state and takes the centres of the source model when they had to
  /// be computed.
  StepViews(state::StateWriter& writer, state::ModelDescription model,
            models::ClassifierNetwork network, const InferenceOptions& inference);

  /// Answers of the source model are looked for and kept here.
  void set_cache(FrozenCache cache) { cache_ = std::move(cache); }
  /// Called before the state is read: somebody may be writing to it.
  void set_barrier(std::function<void()> barrier) { barrier_ = std::move(barrier); }
  /// From here on these are the target images; they must stay until the next call.
  void set_target(const data::ImageStore& target);
  /// Begins to load the source images on another thread, for a `source` to come; the
  /// size of training, if it is another.
  void prepare_source(const data::LoadOptions& load,
                      const std::optional<data::ResizeOptions>& training_size);
  /// Opens the source images of the state, once.
  const SourceImages& source(const data::LoadOptions& load);

  /// The mean features of the source classes by the source model, float [K, D], if they have
  /// been computed in any process; else undefined.
  torch::Tensor known_centres();

  /// With the functions set; they work as long as this object does. Those about the
  /// source are there once it has been opened.
  methods::StepContext context();

 private:
  const models::ClassifierNetwork& source_model();
  std::string question(const std::string& what, const std::string& images) const;
  models::NamedTensors ask_source_model(const std::string& what,
                                        const std::function<std::string()>& describe_images,
                                        const std::function<models::NamedTensors()>& compute);
  methods::Predictions predict_target(methods::ModelChoice choice);
  torch::Tensor centres(methods::ModelChoice choice);

  const state::StateDirectory& state() const;

  state::StateWriter& writer_;
  std::string weights_;  // which the source model is made of
  std::function<void()> barrier_ = [] {};
  state::ModelDescription model_;
  models::ClassifierNetwork network_;
  models::ClassifierNetwork source_model_{nullptr};  // loaded when it is needed
  models::NamedTensors source_weights_;              // what it will hold, if that is known
  InferenceOptions inference_;
  training::PixelNormaliser normalise_;
  FrozenCache cache_;
  const data::ImageStore* target_ = nullptr;
  std::optional<methods::Predictions> target_view_;  // the source model's
  std::optional<SourceImages> source_;
  std::future<void> preparing_;                // them; ends before they do
  torch::Tensor source_centres_;               // the source model's
  std::optional<torch::Tensor> kept_centres_;  // as the state had them, or undefined
};

}  // namespace proca::engine
