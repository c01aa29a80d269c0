#pragma once

#include <memory>
#include <optional>

#include "proca/data/image_store.h"
#include "proca/data/load_options.h"
#include "proca/data/preprocessing.h"
#include "proca/engine/inference.h"
#include "training/feeds/device_images.h"

namespace proca::engine {

/// The source or the target images of a step, at the sizes of evaluation and of training. Each
/// is decoded by the first call that needs it, into the memory that the other left.
class StepImages {
 public:
  /// `training` gives the same images in the same order. Without `training_size` the images of
  /// evaluation are those of training.
  StepImages(std::shared_ptr<const data::ImageSource> evaluation,
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
  /// Also removes them from the device.
  ~StepImages() {
    for (const auto* store : {&evaluation_, &training_}) {
      if (*store) device_images_->forget(**store);
    }
  }
  StepImages(const StepImages&) = delete;
  StepImages& operator=(const StepImages&) = delete;

  const data::ImageListing& listing() const { return evaluation_source_->listing(); }
  const data::ImageStore& evaluation() {
    return decoded(evaluation_, evaluation_source_, evaluation_size_);
  }
  const data::ImageStore& training() {
    return training_size_ ? decoded(training_, training_source_, *training_size_) : evaluation();
  }
  /// For further images: the options with the memory that these left.
  data::LoadOptions load_beside() const {
    auto load = load_;
    for (const auto* store : {&evaluation_, &training_}) {
      if (*store) load = load.beside(**store);
    }
    return load;
  }

 private:
  const data::ImageStore& decoded(std::optional<data::ImageStore>& store,
                                  const std::shared_ptr<const data::ImageSource>& source,
                                  const data::ResizeOptions& size) {
    if (!store) store.emplace(load_beside().make_store(source, size, threads_));
    return *store;
  }

  std::shared_ptr<const data::ImageSource> evaluation_source_, training_source_;
  data::ResizeOptions evaluation_size_;
  std::optional<data::ResizeOptions> training_size_;
  data::LoadOptions load_;
  training::DeviceImages* device_images_;
  int64_t threads_;
  std::optional<data::ImageStore> evaluation_, training_;
};

}  // namespace proca::engine
