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
};

/// How to show training images at a network's size, and how to keep them for it.
data::Augmentation training_augmentation(const methods::TrainingRecipe& recipe,
                                         const data::Preprocessing& preprocessing);
/// Nothing if they are shown as in evaluation, and the same store will do.
std::optional<data::ResizeOptions> training_resize(const methods::TrainingRecipe& recipe,
                                                   const data::Preprocessing& preprocessing);

/// Which part of a step an epoch is. Where iterations are counted, it is a stretch of an
/// endless stream; else it is one pass.
struct EpochStretch {
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t first = 0;  ///< iteration of the step it begins with
  int64_t count = 0;  ///< of iterations
  bool endless = false;
};

/// Loads one kind of training images, iteration by iteration, in an order that is a pure
/// function of seed, kind and place, so that an epoch can be taken up in the middle.
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

  /// Batches of one pass.
  int64_t pass_length(int64_t batch_size) const;
  /// From iteration `done` of the stretch on.
  std::unique_ptr<BatchFeed> load(const EpochStretch& stretch, int64_t batch_size,
                                  int64_t done) const;

 private:
  TrainingImages images_;
  data::Preprocessing preprocessing_;
  std::string kind_;  // keeps the random choices of source and target apart
  Sampling sampling_;
  uint64_t seed_;
  DeviceImages* device_images_;
};

}  // namespace proca::training
