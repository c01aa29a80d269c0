#include "protocol/class_schedule.h"

#include <stdexcept>

namespace proca::protocol {

std::vector<int64_t> ClassSchedule::seen_after(int64_t step) const {
  if (step >= num_steps()) throw std::out_of_range("ClassSchedule::seen_after: no such step");
  std::vector<int64_t> classes;
  for (int64_t i = 0; i <= step; ++i) {
    const auto& added = steps[static_cast<size_t>(i)];
    classes.insert(classes.end(), added.begin(), added.end());
  }
  return classes;
}

}  // namespace proca::protocol
