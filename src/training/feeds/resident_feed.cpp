#include "training/feeds/resident_feed.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/weights/device_copy.h"
#include "proca/core/error.h"
#include "training/feeds/resized_views.h"

namespace proca::training {
namespace {

// Properties of an example, one per row.
enum Row : int64_t {
  kIndex,
  kLabel,
  kFirst,  // pixel in the top left corner of its box
  kStride,
  kWidth,
  kHeight,
  kFlip,
  kNumRows,
};

data::View choose(const data::Augmentation& augmentation, const ResidentImages::Place& place,
                  const data::Sample& sample, RandomStream random) {
  try {
    return augmentation.choose(place.width, place.height, random);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", sample.path, error.what()));
  }
}

}  // namespace

ResidentFeed::ResidentFeed(std::shared_ptr<const ResidentImages> images,
                           const data::ImageStore& store, const FeedPlan& plan,
                           const data::Preprocessing& preprocessing)
    : images_(std::move(images)),
      augmentation_(plan.augmentation),
      normalise_(preprocessing, images_->device()) {
  int64_t count = 0;
  for (const auto& batch : plan.batches) count += static_cast<int64_t>(batch.size());
  const auto staged = models::staging({kNumRows, count}, torch::kInt64, images_->device());
  auto rows = staged.accessor<int64_t, 2>();
  int64_t example = 0;
  for (size_t b = 0; b < plan.batches.size(); ++b) {
    auto& batch = batches_.emplace_back();
    for (const int64_t index : plan.batches[b]) {
      const auto& place = images_->place(index);
      const auto& sample = store.sample(index);
      const auto [box, flip] =
          choose(augmentation_, place, sample,
                 data::augmentation_stream(plan.seed, plan.epochs.at(b), index));
      rows[kIndex][example] = index;
      rows[kLabel][example] = sample.label;
      rows[kFirst][example] = place.first + box.top * place.width + box.left;
      rows[kStride][example] = place.width;
      rows[kWidth][example] = box.width;
      rows[kHeight][example] = box.height;
      rows[kFlip][example] = flip == data::Flip::kHorizontal ? 1 : 0;
      ++batch.size;
      batch.max_width = std::max(batch.max_width, box.width);
      batch.max_height = std::max(batch.max_height, box.height);
      ++example;
    }
  }
  examples_ = models::copy_to(staged, images_->device());
}

torch::Tensor ResidentFeed::pixels(const torch::Tensor& examples, const Batch& batch) const {
  const PixelBoxes boxes{.pixels = images_->pixels(),
                         .first = examples[kFirst],
                         .stride = examples[kStride],
                         .width = examples[kWidth],
                         .height = examples[kHeight],
                         .flip = examples[kFlip]};
  const int64_t size = augmentation_.image_size;
  if (augmentation_.crop != data::Crop::kRandomResized) return cut_boxes(boxes, size);
  return resize_boxes(boxes, size, batch.max_width, batch.max_height);
}

std::optional<TensorBatch> ResidentFeed::next() {
  if (next_ == batches_.size()) return std::nullopt;
  const auto& batch = batches_[next_++];
  const auto examples = examples_.narrow(1, done_, batch.size);
  done_ += batch.size;
  return TensorBatch{normalise_(pixels(examples, batch)), examples[kLabel], examples[kIndex]};
}

}  // namespace proca::training
