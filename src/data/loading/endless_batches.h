#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/loading/batch_loader.h"

namespace proca::data {

/// A range of an endless stream of batches.
struct BatchRange {
  Batches batches;
  /// By batch: the number of passes over the images before it. Random choices for an image
  /// depend on it, so that the image is augmented differently every time.
  std::vector<int64_t> passes;
};

/// Batches `first`, ..., `last` - 1 of the images 0 .. count-1, shuffled again and again:
/// a pure function of its arguments. Every batch is full; images left over at the end of
/// a shuffle are dropped until the next one. With fewer images than the batch size, every
/// batch has all of them (a single image is taken twice, as it has no batch statistics,
/// unless the batch size is 1).
BatchRange endless_batches(int64_t count, int64_t batch_size, uint64_t seed,
                           std::string_view purpose, int64_t first, int64_t last);

/// The same, but each image of a batch is drawn by itself: first a class, all classes with
/// images being equally likely, then one of its images. `labels` are those of the images.
BatchRange balanced_batches(const std::vector<int64_t>& labels, int64_t batch_size, uint64_t seed,
                            std::string_view purpose, int64_t first, int64_t last);

}  // namespace proca::data
