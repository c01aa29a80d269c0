#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proca/data/preprocessing.h"
#include "proca/methods/method.h"
#include "training/feeds/batch_feed.h"
#include "training/feeds/device_images.h"

namespace proca::training {

/// Training images and how they are shown. The store outlives its users.
struct TrainingImages {
  const data::ImageStore* store = nullptr;  ///< null where a step has none
  data::Augmentation augmentation = {};
  /// How many images the length of an epoch goes by: those that the images in the store stand
  /// for, which come several times then. 0: as many as there are.
  int64_t stand_for = 0;
};

/// How training images are shown to the network.
data::Augmentation training_augmentation(const methods::TrainingRecipe& recipe,
                                         const data::Preprocessing& preprocessing);
/// The size at which they are kept for that; nothing if it is that of evaluation.
std::optional<data::ResizeOptions> training_resize(const methods::TrainingRecipe& recipe,
                                                   const data::Preprocessing& preprocessing);

/// The iterations of an epoch. Where a recipe counts iterations, they are a range of an
/// endless stream; else one pass over the images.
struct EpochRange {
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t first = 0;  ///< first iteration, counted in the step
  int64_t count = 0;  ///< of iterations
  bool endless = false;
};

/// Loads one kind of training images, iteration by iteration, in an order that is a pure
/// function of seed, kind and position, so that an epoch can be resumed anywhere.
class TrainingStream {
 public:
  using Sampling = methods::TrainingRecipe::Sampling;

  /// `device_images`, which feeds them to the network, outlives the stream.
  TrainingStream(TrainingImages images, const data::Preprocessing& preprocessing, std::string kind,
                 Sampling sampling, uint64_t seed, DeviceImages& device_images)
      : images_(std::move(images)),
        preprocessing_(preprocessing),
        kind_(std::move(kind)),
        sampling_(sampling),
        seed_(seed),
        device_images_(&device_images) {}

  /// The same images in an order of their own, without class balancing.
  TrainingStream shuffled(std::string kind) const;
  /// Batches of one pass.
  int64_t pass_length(int64_t batch_size) const;
  /// From iteration `done` of the epoch on.
  std::unique_ptr<BatchFeed> load(const EpochRange& range, int64_t batch_size, int64_t done) const;

 private:
  TrainingImages images_;
  data::Preprocessing preprocessing_;
  std::string kind_;  // keeps the random choices of source and target apart
  Sampling sampling_;
  uint64_t seed_;
  DeviceImages* device_images_;
};

}  // namespace proca::training
