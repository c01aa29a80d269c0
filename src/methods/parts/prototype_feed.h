#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "adaptation/herding.h"
#include "adaptation/prototype_mirror.h"
#include "proca/adaptation/prototype_memory.h"
#include "proca/methods/method.h"

namespace proca::methods {

/// A prototype memory, and the prototypes that each iteration replays.
class PrototypeFeed {
 public:
  /// At most `per_class` prototypes per class, and `budget_bytes` of them; 0 for no limit.
  PrototypeFeed(int64_t per_class, int64_t budget_bytes, torch::Device device);

  adaptation::PrototypeMemory& memory() { return memory_; }
  const adaptation::PrototypeMemory& memory() const { return memory_; }

  /// To be called when a step has detected its classes: throws `InputError` if the budget
  /// cannot hold one prototype of each class, known or new, and warns when the memory holds
  /// fewer per class than is asked for. Now, not when prototypes are captured, hours later.
  void check_budget(const std::vector<int64_t>& classes, int64_t num_source_classes,
                    const StepContext& context) const;

  /// The prototypes to replay in an iteration; nothing while the memory is empty.
  ///
  /// | name               | dtype | shape        |
  /// |--------------------|-------|--------------|
  /// | replay.images      | float | [n, 3, H, W] |
  /// | replay.labels      | int64 | [n]          |
  /// | replay.soft_labels | float | [n, K]       |
  models::NamedTensors prepare(const StepContext& context);

 private:
  int64_t per_class_;  // asked for
  int64_t budget_bytes_;
  adaptation::PrototypeMemory memory_;
  adaptation::PrototypeMirror mirror_;  // of the memory, on the network's device
  // The order of replay: a function of seed, step, epoch and memory, computed on demand.
  std::vector<std::vector<int64_t>> order_;
  std::vector<int64_t> order_is_for_;
};

/// Chooses prototypes of a class among the target images `members` by herding, with pixels
/// and the softmax of `predictions` as soft labels. Without members there are none.
adaptation::ClassPrototypes choose_prototypes(int64_t label, const std::vector<int64_t>& members,
                                              const Predictions& predictions, int64_t per_class,
                                              const adaptation::HerdingOptions& herding,
                                              const StepContext& context);

}  // namespace proca::methods
