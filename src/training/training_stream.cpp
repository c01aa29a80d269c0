#include "training/training_stream.h"

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
  return static_cast<int64_t>(
      data::training_batches(images_.store->size(), batch_size, 0, "length", 0).size());
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
    const auto pass = data::training_batches(num_images, batch_size, seed_, purpose, range.epoch);
    plan.batches = {pass.begin() + done, pass.begin() + range.count};
    plan.epochs.assign(plan.batches.size(), range.epoch);
  }
  return device_images_->feed(*images_.store, std::move(plan), preprocessing_);
}

}  // namespace proca::training
