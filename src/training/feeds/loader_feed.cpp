#include "training/feeds/loader_feed.h"

#include <algorithm>
#include <cstring>

#include "models/weights/device_copy.h"
#include "training/feeds/adopted_tensor.h"

namespace proca::training {

LoaderFeed::LoaderFeed(const data::ImageStore& store, FeedPlan plan,
                       const data::Preprocessing& preprocessing, torch::Device device,
                       int64_t threads)
    : loader_(store, std::move(plan.batches), plan.augmentation, plan.seed, std::move(plan.epochs),
              threads),
      normalise_(preprocessing, device) {
  if (!device.is_cpu()) stream_.emplace(device);
}

// Pinned memory is allocated here and not by the loader's threads: allocating it while this
// thread captures a CUDA graph would break the capture.
std::optional<compute::CopyStream::Copies> LoaderFeed::send_next() {
  const auto batch = loader_.next();
  if (!batch) return std::nullopt;
  const auto device = normalise_.device();
  const int64_t count = batch->size(), size = batch->image_size;
  const auto pixels =
      models::staging({count, size, size, data::Image::kChannels}, torch::kUInt8, device);
  std::memcpy(pixels.data_ptr(), batch->pixels.data(), batch->pixels.size());
  const auto numbers = models::staging({2, count}, torch::kInt64, device);
  auto* values = numbers.data_ptr<int64_t>();
  std::copy(batch->labels.begin(), batch->labels.end(), values);
  std::copy(batch->indexes.begin(), batch->indexes.end(), values + count);
  return stream_->copy({pixels, numbers});
}

std::optional<TensorBatch> LoaderFeed::next() {
  if (!stream_) {
    auto batch = loader_.next();
    if (!batch) return std::nullopt;
    const int64_t count = batch->size(), size = batch->image_size;
    return TensorBatch{
        normalise_(adopt(std::move(batch->pixels), {count, size, size, data::Image::kChannels})),
        adopt(std::move(batch->labels), {count}), adopt(std::move(batch->indexes), {count})};
  }
  // Not in the constructor: feeds that are used together should prepare their first batches
  // in parallel.
  if (!has_begun_) ahead_ = send_next();
  has_begun_ = true;
  if (!ahead_) return std::nullopt;
  const auto arrived = stream_->use(std::move(*ahead_));
  ahead_ = send_next();
  return TensorBatch{normalise_(arrived[0]), arrived[1][0], arrived[1][1]};
}

}  // namespace proca::training
