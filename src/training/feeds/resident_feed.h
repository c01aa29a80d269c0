#pragma once

#include <memory>

#include "training/feeds/batch_feed.h"
#include "training/feeds/pixel_normaliser.h"
#include "training/feeds/resident_images.h"

namespace proca::training {

/// Batches of images that are on the device. The constructor makes every random choice and
/// copies them to the device at once; after that the host only launches kernels.
class ResidentFeed final : public BatchFeed {
 public:
  /// `images` are those of `store`, which is not needed afterwards. Throws `InputError`
  /// naming an image that is too small for its crop.
  ResidentFeed(std::shared_ptr<const ResidentImages> images, const data::ImageStore& store,
               const FeedPlan& plan, const data::Preprocessing& preprocessing);

  std::optional<TensorBatch> next() override;

 private:
  struct Batch {
    int64_t size = 0;
    int64_t max_width = 0, max_height = 0;  // of its boxes
  };
  torch::Tensor pixels(const torch::Tensor& examples, const Batch& batch) const;

  std::shared_ptr<const ResidentImages> images_;
  data::Augmentation augmentation_;
  PixelNormaliser normalise_;
  std::vector<Batch> batches_;
  torch::Tensor examples_;  // int64 [kNumRows, E] on the device: a column for every example
  size_t next_ = 0;
  int64_t done_ = 0;  // examples
};

}  // namespace proca::training
