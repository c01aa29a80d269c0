#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <torch/types.h>

#include "proca/data/batch_loader.h"
#include "proca/data/preprocessing.h"
#include "proca/engine/image_tensors.h"

namespace proca::engine {

/// Which images of a store come when, and how they are shown.
struct FeedPlan {
  data::Batches batches;
  data::Augmentation augmentation = {};
  uint64_t seed = 0;            ///< of the augmentation
  std::vector<int64_t> epochs;  ///< by batch: random choices differ between epochs
};

/// Batches of a store, one after the other, as the network takes them, on its device.
/// What comes does not depend on where the images are kept or on the number of threads.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  /// Nothing after the last. `indexes` are on the device, like all the rest.
  virtual std::optional<TensorBatch> next() = 0;
};

/// A store's images as bytes on a GPU.
class ResidentImages;

/// The images that are kept on a device: those of few stores, as long as there is room.
class DeviceImages {
 public:
  /// With `budget_bytes` 0, and on a CPU, nothing is kept.
  DeviceImages(torch::Device device, int64_t budget_bytes, int64_t threads);
  ~DeviceImages();

  /// A feed of the store's images, which must outlive it. They are copied to the device
  /// by the first call, if they fit; else they stream through pinned memory.
  std::unique_ptr<BatchFeed> feed(const data::ImageStore& store, FeedPlan plan,
                                  const data::Preprocessing& preprocessing);
  /// The store goes away: its images need not be kept any more.
  void forget(const data::ImageStore& store);

 private:
  torch::Device device_;
  int64_t budget_bytes_;
  int64_t threads_;
  std::vector<std::pair<const data::ImageStore*, std::shared_ptr<const ResidentImages>>> kept_;
};

}  // namespace proca::engine
