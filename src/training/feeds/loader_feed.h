#pragma once

#include <optional>

#include "compute/copy_stream.h"
#include "training/feeds/batch_feed.h"
#include "training/feeds/pixel_normaliser.h"

namespace proca::training {

/// Batches that the CPU prepares: for training on the CPU, and for images that do not fit on
/// a GPU. The next batch is copied to the GPU while it computes on the current one.
class LoaderFeed final : public BatchFeed {
 public:
  /// The store must outlive the feed.
  LoaderFeed(const data::ImageStore& store, FeedPlan plan, const data::Preprocessing& preprocessing,
             torch::Device device, int64_t threads);

  std::optional<TensorBatch> next() override;

 private:
  std::optional<compute::CopyStream::Copies> send_next();

  data::BatchLoader loader_;
  PixelNormaliser normalise_;
  // Only for a GPU.
  std::optional<compute::CopyStream> stream_;
  std::optional<compute::CopyStream::Copies> ahead_;
  bool has_begun_ = false;
};

}  // namespace proca::training
