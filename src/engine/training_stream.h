#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proca/data/batch_loader.h"
#include "proca/data/preprocessing.h"
#include "proca/methods/method.h"

namespace proca::engine {

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

  TrainingStream(TrainingImages images, std::string kind, Sampling sampling, uint64_t seed,
                 int64_t threads)
      : images_(std::move(images)),
        kind_(std::move(kind)),
        sampling_(sampling),
        seed_(seed),
        threads_(threads) {}

  /// Batches of one pass.
  int64_t pass_length(int64_t batch_size) const;
  /// From iteration `done` of the stretch on.
  std::unique_ptr<data::BatchLoader> load(const EpochStretch& stretch, int64_t batch_size,
                                          int64_t done) const;

 private:
  TrainingImages images_;
  std::string kind_;  // keeps the random choices of source and target apart
  Sampling sampling_;
  uint64_t seed_;
  int64_t threads_;
};

}  // namespace proca::engine
