#include <cmath>

#include "proca/methods/method.h"

namespace proca::methods {

std::vector<torch::Tensor> device_scalars(const std::vector<double>& values, torch::Device device) {
  std::vector<torch::Tensor> scalars;
  for (const double value : values) {
    // Filled where it lives: a copy would make the host wait for the device.
    scalars.push_back(torch::full({}, value, torch::dtype(torch::kFloat32).device(device)));
  }
  return scalars;
}

bool completes_interval(const StepContext& context, double every) {
  // Counted in whole ticks: sums of fractions would drift.
  const auto ticks = static_cast<double>(context.step_iteration);
  const double before = std::floor(ticks * context.clock_tick / every + 1e-9);
  const double after = std::floor((ticks + 1) * context.clock_tick / every + 1e-9);
  return after > before;
}

}  // namespace proca::methods
