#include "training/training_stream.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/loading/endless_batches.h"
#include "proca/core/random.h"

namespace proca::training {
namespace {

std::vector<int64_t> labels_of(const data::ImageStore& store) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < store.size(); ++i) labels.push_back(store.sample(i).label);
  return labels;
}

int64_t num_batches(int64_t num_images, int64_t batch_size) {
  return static_cast<int64_t>(
      data::training_batches(num_images, batch_size, 0, "length", 0).size());
}

}  // namespace

data::Augmentation training_augmentation(const methods::TrainingRecipe& recipe,
                                         const data::Preprocessing& preprocessing) {
  return {
      .image_size = preprocessing.image_size, .crop = recipe.crop, .flip_probability = recipe.flip};
}

std::optional<data::ResizeOptions> training_resize(const methods::TrainingRecipe& recipe,
                                                   const data::Preprocessing& preprocessing) {
  if (recipe.crop == data::Crop::kCentre) return std::nullopt;
  return data::ResizeOptions{recipe.resize, (preprocessing.image_size * 256 + 112) / 224,
                             preprocessing.resize.orientation};
}

TrainingStream TrainingStream::shuffled(std::string kind) const {
  return {images_, preprocessing_, std::move(kind), Sampling::kShuffled, seed_, *device_images_};
}

int64_t TrainingStream::pass_length(int64_t batch_size) const {
  return num_batches(std::max(images_.store->size(), images_.stand_for), batch_size);
}

std::unique_ptr<BatchFeed> TrainingStream::load(const EpochRange& range, int64_t batch_size,
                                                int64_t done) const {
  const auto purpose = fmt::format("{} step {}", kind_, range.step);
  const int64_t num_images = images_.store->size();
  // Source and target images of the same index are augmented differently.
  FeedPlan plan{
      .batches = {}, .augmentation = images_.augmentation, .seed = RandomStream(seed_, purpose)()};
  if (range.endless) {
    const int64_t first = range.first + done, last = range.first + range.count;
    auto [batches, passes] =
        sampling_ == Sampling::kClassBalanced
            ? data::balanced_batches(labels_of(*images_.store), batch_size, seed_, purpose, first,
                                     last)
            : data::endless_batches(num_images, batch_size, seed_, purpose, first, last);
    plan.batches = std::move(batches);
    plan.epochs = std::move(passes);
  } else {
    // Nearly always an epoch is one pass; images that stand for more come in several.
    const int64_t per_pass = num_batches(num_images, batch_size);
    const int64_t passes = (pass_length(batch_size) + per_pass - 1) / per_pass;
    data::Batches pass;
    for (int64_t i = done; i < range.count; ++i) {
      const int64_t number = range.epoch * passes + i / per_pass;
      if (plan.epochs.empty() || plan.epochs.back() != number) {
        pass = data::training_batches(num_images, batch_size, seed_, purpose, number);
      }
      plan.batches.push_back(pass.at(static_cast<size_t>(i % per_pass)));
      plan.epochs.push_back(number);
    }
  }
  return device_images_->feed(*images_.store, std::move(plan), preprocessing_);
}

}  // namespace proca::training
