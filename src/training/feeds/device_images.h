#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <torch/types.h>

#include "proca/compute/device.h"
#include "proca/data/preprocessing.h"
#include "training/feeds/batch_feed.h"

namespace proca::training {

class ResidentImages;

/// Images kept on a device: those of few stores, as far as they fit.
class DeviceImages {
 public:
  /// With `budget_bytes` 0 nothing is kept, as on a CPU, where images are in memory
  /// already. `threads` decode images.
  DeviceImages(torch::Device device, int64_t budget_bytes, int64_t threads);
  ~DeviceImages();

  /// A feed of the store, which must outlive it. The first call copies the images to the
  /// device if they fit; else they stream through pinned memory.
  std::unique_ptr<BatchFeed> feed(const data::ImageStore& store, FeedPlan plan,
                                  const data::Preprocessing& preprocessing);
  /// Drops the images of a store.
  void forget(const data::ImageStore& store);

  int64_t kept_bytes() const;

 private:
  // By id: another store may get the address of a destroyed one.
  struct Entry {
    int64_t store_id = 0;
    std::shared_ptr<const ResidentImages> images;  // null: there was no room
  };
  const Entry& entry_of(const data::ImageStore& store);

  torch::Device device_;
  int64_t budget_bytes_;
  int64_t threads_;
  std::vector<Entry> entries_;
};

/// The bytes of `--cache-gpu`; by default half of the device's free memory, on a CPU always 0.
int64_t image_budget(std::optional<int64_t> cache_gpu, torch::Device device);

/// The images kept on the device that is chosen, with that budget.
std::shared_ptr<DeviceImages> make_device_images(std::optional<int64_t> cache_gpu,
                                                 const compute::ComputeOptions& compute);

}  // namespace proca::training
