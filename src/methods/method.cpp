#include "proca/methods/method.h"

#include <cmath>

namespace proca::methods {

torch::Tensor AdaptationBatch::input(const std::string& name) const {
  const auto found = inputs.find(name);
  return found == inputs.end() ? torch::Tensor() : found->second;
}

std::map<std::string, torch::Tensor*> AdaptationBatch::tensors() {
  std::map<std::string, torch::Tensor*> all = {{"source_images", &source_images},
                                               {"source_labels", &source_labels},
                                               {"target_images", &target_images},
                                               {"target_ids", &target_ids},
                                               {"extra_source_images", &extra_source_images},
                                               {"extra_source_labels", &extra_source_labels}};
  for (auto& [name, tensor] : inputs) all["input." + name] = &tensor;
  std::erase_if(all, [](const auto& entry) { return !entry.second->defined(); });
  return all;
}

torch::Tensor scalar_on(torch::Device device, double value) {
  return torch::full({}, value, torch::dtype(torch::kFloat32).device(device));
}

bool completes_interval(const StepContext& context, double every) {
  // Counted in whole ticks: sums of fractions would drift.
  const auto ticks = static_cast<double>(context.step_iteration);
  const double before = std::floor(ticks * context.clock_tick / every + 1e-9);
  const double after = std::floor((ticks + 1) * context.clock_tick / every + 1e-9);
  return after > before;
}

}  // namespace proca::methods
