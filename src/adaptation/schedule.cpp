#include "adaptation/schedule.h"

#include <algorithm>
#include <stdexcept>

#include "proca/core/random.h"

namespace proca::adaptation {

bool is_due(int64_t epoch, int64_t every) { return every > 0 && epoch > 0 && epoch % every == 0; }

bool CaptureSchedule::captures_after(int64_t epoch, int64_t num_epochs) const {
  if (epoch == first || is_due(epoch, every)) return true;
  if (epoch != num_epochs - 1) return false;
  const bool has_captured = (first >= 0 && first < epoch) || (every > 0 && every < epoch);
  return !has_captured;
}

std::vector<std::vector<int64_t>> replay_batches(int64_t count, int64_t batch_size,
                                                 int64_t num_iterations, uint64_t seed,
                                                 int64_t step, int64_t epoch) {
  if (count < 0 || batch_size < 1 || num_iterations < 0) {
    throw std::invalid_argument("replay_batches: a count is negative or a batch empty");
  }
  std::vector<std::vector<int64_t>> batches(static_cast<size_t>(num_iterations));
  if (count == 0) return batches;

  uint64_t num_shuffles = 0;
  const auto shuffle = [&] {
    RandomStream random(seed, "replay", static_cast<uint64_t>(step), static_cast<uint64_t>(epoch),
                        num_shuffles++);
    return random_permutation(count, random);
  };
  auto order = shuffle();
  int64_t begin = 0;
  for (auto& batch : batches) {
    if (begin >= count) {
      order = shuffle();
      begin = 0;
    }
    const int64_t end = std::min(count, begin + batch_size);
    batch.assign(order.begin() + begin, order.begin() + end);
    // A later shuffle gives its first batch only.
    begin = num_shuffles == 1 ? end : count;
  }
  return batches;
}

}  // namespace proca::adaptation
