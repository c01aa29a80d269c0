#pragma once

#include <cstdint>
#include <vector>

namespace proca::protocol {

/// Which classes arrive when. Classes are labels of the source.
struct ClassSchedule {
  std::vector<std::vector<int64_t>> steps;
  /// The classes of S-1 accuracy: usually those of the first step.
  std::vector<int64_t> first_classes;

  int64_t num_steps() const { return static_cast<int64_t>(steps.size()); }
  /// Classes of the steps up to and including `step`, from 0.
  std::vector<int64_t> seen_after(int64_t step) const;
  /// Classes of all steps.
  std::vector<int64_t> all() const { return seen_after(num_steps() - 1); }
};

}  // namespace proca::protocol
