#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/loading/batch_loader.h"

namespace proca::data {

/// A stretch of a stream of batches that never ends.
struct BatchStretch {
  Batches batches;
  /// By batch: how often the images had been gone through before. Random choices about
  /// an image depend on it, so that it looks different every time.
  std::vector<int64_t> passes;
};

/// Batches `first`, ..., `last` - 1 of the images 0 .. count-1, shuffled again and again:
/// a pure function of its arguments. Every batch is full; images that are left over at
/// the end of a shuffle wait for the next one. With fewer images than a batch has
/// places, every batch is all of them (one that is alone stands twice, as a single image
/// may have no batch statistics, unless batches of one were asked for).
BatchStretch endless_batches(int64_t count, int64_t batch_size, uint64_t seed,
                             std::string_view purpose, int64_t first, int64_t last);

/// The same, but each place is drawn on its own: a class that has images, all alike, and
/// then one of its images. `labels` are those of the images.
BatchStretch balanced_batches(const std::vector<int64_t>& labels, int64_t batch_size, uint64_t seed,
                              std::string_view purpose, int64_t first, int64_t last);

}  // namespace proca::data
