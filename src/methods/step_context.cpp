#include <cmath>

#include "proca/methods/method.h"

namespace proca::methods {

bool completes_interval(const StepContext& context, double every) {
  // Counted in whole ticks: sums of fractions would drift.
  const auto ticks = static_cast<double>(context.step_iteration);
  const double before = std::floor(ticks * context.clock_tick / every + 1e-9);
  const double after = std::floor((ticks + 1) * context.clock_tick / every + 1e-9);
  return after > before;
}

}  // namespace proca::methods
