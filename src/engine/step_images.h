#pragma once

#include <memory>
#include <optional>

#include "proca/data/image_store.h"
#include "proca/data/load_options.h"
#include "proca/data/preprocessing.h"
#include "proca/engine/inference.h"

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
             const InferenceOptions& inference);
  /// Also removes them from the device.
  ~StepImages();
  StepImages(const StepImages&) = delete;
  StepImages& operator=(const StepImages&) = delete;

  const data::ImageListing& listing() const { return evaluation_source_->listing(); }
  const data::ImageStore& evaluation();
  const data::ImageStore& training();
  /// For further images: the options with the memory that these left.
  data::LoadOptions load_beside() const;

 private:
  std::shared_ptr<const data::ImageSource> evaluation_source_, training_source_;
  data::ResizeOptions evaluation_size_;
  std::optional<data::ResizeOptions> training_size_;
  data::LoadOptions load_;
  training::DeviceImages* device_images_;
  int64_t threads_;
  std::optional<data::ImageStore> evaluation_, training_;
};

}  // namespace proca::engine
