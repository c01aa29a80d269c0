#pragma once

#include <future>
#include <memory>
#include <optional>

#include <torch/types.h>

#include "engine/source/kept_source.h"
#include "engine/source/source_location.h"
#include "engine/source_model.h"
#include "engine/state_session.h"
#include "engine/step_images.h"
#include "proca/data/image_store.h"
#include "proca/engine/adapter.h"
#include "proca/engine/inference.h"
#include "proca/methods/method.h"
#include "training/feeds/device_images.h"
#include "training/feeds/pixel_normaliser.h"
#include "training/training_stream.h"

namespace proca::engine {

/// Everything that a step reads: its target images at the sizes of evaluation and of training,
/// the labelled source images, and the frozen source model's outputs on both.
class StepInputs {
 public:
  /// `device_images` keeps images on the device, also for other states; null: it makes its own.
  StepInputs(const AdaptOptions& options, std::shared_ptr<StateSession> session,
             std::shared_ptr<training::DeviceImages> device_images = nullptr);

  /// What identifies the source images where they are those that the state keeps; empty where
  /// they are read from their folder.
  const std::string& kept_source() const { return kept_source_; }

  /// How the network is run over images outside training.
  const InferenceOptions& inference() const { return inference_; }
  const std::shared_ptr<training::DeviceImages>& device_images() const { return device_images_; }

  /// The memory for decoded images from here on.
  void limit_memory(int64_t bytes) { load_.cache_ram = bytes; }
  /// Starts to load the source images on another thread.
  void prepare_source();
  /// The size that training images are kept at; nothing if it is that of evaluation.
  std::optional<data::ResizeOptions> training_size() const;
  /// The next step's target images at `training_size()`, in the order of those that
  /// `set_target` will get, for callers who have them decoded already.
  void set_training_images(std::shared_ptr<const data::ImageSource> images);

  /// The network that is adapted, on its device.
  void set_network(const models::ClassifierNetwork& network);
  /// The target images of the next step. Those of the last one are released.
  void set_target(const std::shared_ptr<const data::ImageSource>& images);
  /// Those images as in evaluation.
  const data::ImageStore& target() { return target_->evaluation(); }
  /// The images to train on.
  training::TrainingImages target_for_training();
  training::TrainingImages source_for_training();

  /// What a method may ask the engine in a step. Its functions work as long as this object.
  /// Those for source images are set once `source_for_training` has been called.
  methods::StepContext context();
  /// The mean features of the source classes by the source model, float [K, D], if they have
  /// been computed in any process; else undefined.
  torch::Tensor known_centres() { return kept_ ? kept_->centres : source_model_.known_centres(); }

 private:
  void open_source(data::LoadOptions load);
  std::shared_ptr<const data::ImageSource> open_source_images();
  training::TrainingImages shown_in_training(StepImages& images) const;
  methods::Predictions predict_target(methods::ModelChoice choice);
  torch::Tensor source_centres(methods::ModelChoice choice);

  std::shared_ptr<StateSession> session_;
  data::LoadOptions load_;
  methods::TrainingRecipe recipe_;
  data::Preprocessing preprocessing_;
  std::shared_ptr<training::DeviceImages> device_images_;
  InferenceOptions inference_, source_inference_, target_inference_;
  training::PixelNormaliser normalise_;
  models::ClassifierNetwork network_{nullptr};
  SourceModel source_model_;
  SourceLocation given_source_;  // by the user; empty: where the state says
  std::string kept_source_;
  std::optional<KeptSource> kept_;  // once they are open
  std::optional<StepImages> source_;
  torch::Tensor source_prior_;
  std::future<void> preparing_;  // the source images; ends before they do
  // Of the step under way.
  std::optional<StepImages> target_;
  std::shared_ptr<const data::ImageSource> training_images_;  // what the caller has decoded
  std::optional<methods::Predictions> source_model_predictions_;
};

}  // namespace proca::engine
