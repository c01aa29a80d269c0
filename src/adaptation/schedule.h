#pragma once

#include <cstdint>
#include <vector>

namespace proca::adaptation {

/// After which epochs of a step prototypes are captured. Epochs count from 0.
struct CaptureSchedule {
  int64_t first = 3;  ///< warm-up: the first capture is at the end of this epoch
  int64_t every = 7;  ///< and again at the end of each multiple of this

  /// Whether a capture follows `epoch`: it is `first`, or a positive multiple of
  /// `every`. A step too short to reach any of them captures after its last epoch,
  /// so that no step leaves without its prototypes.
  bool captures_after(int64_t epoch, int64_t num_epochs) const;
};

/// Whether work that is repeated `every` so many epochs is due before `epoch`:
/// at epochs every, 2 every, ... Not at 0, where everything is computed anyway, and
/// never when `every` is 0.
bool is_due(int64_t epoch, int64_t every);

/// Which prototypes each iteration of an epoch replays: a shuffled pass over all
/// `count` in batches (the last may be smaller); when that is used up, every
/// further iteration takes the first batch of a new shuffle. A pure function of its
/// arguments. With an empty memory every batch is empty.
std::vector<std::vector<int64_t>> replay_batches(int64_t count, int64_t batch_size,
                                                 int64_t num_iterations, uint64_t seed,
                                                 int64_t step, int64_t epoch);

}  // namespace proca::adaptation
