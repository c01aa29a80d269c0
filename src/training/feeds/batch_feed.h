#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/loading/batch_loader.h"
#include "training/feeds/image_tensors.h"

namespace proca::training {

/// The batches of a feed and their augmentation.
struct FeedPlan {
  data::Batches batches = {};
  data::Augmentation augmentation = {};
  uint64_t seed = 0;                 ///< of the augmentation
  std::vector<int64_t> epochs = {};  ///< by batch: random choices differ between epochs
};

/// Batches of a store, one after the other, as network input on its device. They do not
/// depend on where the images are kept or on the number of threads.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  /// Nothing after the last. All tensors are on the device.
  virtual std::optional<TensorBatch> next() = 0;
};

}  // namespace proca::training
