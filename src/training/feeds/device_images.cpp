#include "training/feeds/device_images.h"

#include <algorithm>

#include "compute/device_memory.h"
#include "training/feeds/loader_feed.h"
#include "training/feeds/resident_feed.h"
#include "training/feeds/resident_images.h"

namespace proca::training {

DeviceImages::DeviceImages(torch::Device device, int64_t budget_bytes, int64_t threads)
    : device_(device), budget_bytes_(budget_bytes), threads_(threads) {}
DeviceImages::~DeviceImages() = default;

std::unique_ptr<BatchFeed> DeviceImages::feed(const data::ImageStore& store, FeedPlan plan,
                                              const data::Preprocessing& preprocessing) {
  if (budget_bytes_ > 0) {
    if (const auto& images = entry_of(store).images) {
      return std::make_unique<ResidentFeed>(images, store, plan, preprocessing);
    }
  }
  return std::make_unique<LoaderFeed>(store, std::move(plan), preprocessing, device_, threads_);
}

const DeviceImages::Entry& DeviceImages::entry_of(const data::ImageStore& store) {
  const auto known = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.store_id == store.id(); });
  if (known != entries_.end()) return *known;
  return entries_.emplace_back(Entry{
      store.id(), ResidentImages::load(store, device_, budget_bytes_ - kept_bytes(), threads_)});
}

void DeviceImages::forget(const data::ImageStore& store) {
  // Also entries that did not fit: there may be room now.
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.store_id == store.id() || entry.images == nullptr;
  });
}

int64_t DeviceImages::kept_bytes() const {
  int64_t bytes = 0;
  for (const auto& entry : entries_) bytes += entry.images ? entry.images->bytes() : 0;
  return bytes;
}

int64_t image_budget(std::optional<int64_t> cache_gpu, torch::Device device) {
  if (device.is_cpu()) return 0;
  return cache_gpu ? *cache_gpu : compute::free_device_memory(device) / 2;
}

std::shared_ptr<DeviceImages> make_device_images(std::optional<int64_t> cache_gpu,
                                                 const compute::ComputeOptions& compute) {
  const auto device = compute::choose_device(compute);
  return std::make_shared<DeviceImages>(device, image_budget(cache_gpu, device),
                                        compute.resolved_threads());
}

}  // namespace proca::training
