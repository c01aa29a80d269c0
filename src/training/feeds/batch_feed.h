#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/loading/batch_loader.h"
#include "training/feeds/image_tensors.h"

namespace proca::training {

/// Which images of a store come when, and how they are shown.
struct FeedPlan {
  data::Batches batches = {};
  data::Augmentation augmentation = {};
  uint64_t seed = 0;                 ///< of the augmentation
  std::vector<int64_t> epochs = {};  ///< by batch: random choices differ between epochs
};

/// Batches of a store, one after the other, as the network takes them, on its device.
/// What comes does not depend on where the images are kept or on the number of threads.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  /// Nothing after the last. `indexes` are on the device, like all the rest.
  virtual std::optional<TensorBatch> next() = 0;
};

}  // namespace proca::training
