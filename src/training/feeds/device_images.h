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

/// The images that are kept on a device: those of few stores, as long as there is room.
class DeviceImages {
 public:
  /// With `budget_bytes` 0 nothing is kept: so on a CPU, where images are in memory
  /// already. `threads` prepare images.
  DeviceImages(torch::Device device, int64_t budget_bytes, int64_t threads);
  ~DeviceImages();

  /// A feed of the store's images, which must outlive it. They are copied to the device
  /// by the first call, if they fit; else they stream through pinned memory.
  std::unique_ptr<BatchFeed> feed(const data::ImageStore& store, FeedPlan plan,
                                  const data::Preprocessing& preprocessing);
  /// The store goes away: its images need not be kept any more.
  void forget(const data::ImageStore& store);

  int64_t kept_bytes() const;

 private:
  // Known by number, since another store may come to lie at the address of one that went.
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

/// What `--cache-gpu` says, in bytes: half of the device's free memory where it says
/// nothing. On a CPU it is 0 whatever it says.
int64_t image_budget(std::optional<int64_t> cache_gpu, torch::Device device);

/// The images kept on the device that is chosen, with that budget.
std::shared_ptr<DeviceImages> make_device_images(std::optional<int64_t> cache_gpu,
                                                 const compute::ComputeOptions& compute);

}  // namespace proca::training
