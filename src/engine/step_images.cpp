#include "engine/step_images.h"

#include "training/feeds/device_images.h"

namespace proca::engine {

StepImages::StepImages(std::shared_ptr<const data::ImageSource> evaluation,
                       std::shared_ptr<const data::ImageSource> training,
                       const data::Preprocessing& preprocessing,
                       std::optional<data::ResizeOptions> training_size, data::LoadOptions load,
                       const InferenceOptions& inference)
    : evaluation_source_(std::move(evaluation)),
      training_source_(std::move(training)),
      evaluation_size_(preprocessing.resolved_resize()),
      training_size_(training_size),
      load_(std::move(load)),
      device_images_(inference.images),
      threads_(inference.threads) {}

StepImages::~StepImages() {
  for (const auto* store : {&evaluation_, &training_}) {
    if (*store) device_images_->forget(**store);
  }
}

data::LoadOptions StepImages::load_beside() const {
  auto load = load_;
  for (const auto* store : {&evaluation_, &training_}) {
    if (*store) load = load.beside(**store);
  }
  return load;
}

const data::ImageStore& StepImages::evaluation() {
  if (!evaluation_) {
    evaluation_.emplace(load_beside().make_store(evaluation_source_, evaluation_size_, threads_));
  }
  return *evaluation_;
}

const data::ImageStore& StepImages::training() {
  if (!training_size_) return evaluation();
  if (!training_) {
    training_.emplace(load_beside().make_store(training_source_, *training_size_, threads_));
  }
  return *training_;
}

}  // namespace proca::engine
