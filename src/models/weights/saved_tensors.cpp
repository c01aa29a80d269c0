#include "models/weights/saved_tensors.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "proca/core/error.h"

namespace proca::models {

torch::Tensor SavedTensors::read(const std::string& name, torch::Dtype dtype,
                                 const std::vector<int64_t>& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end() || !found->second.defined()) refuse(name, "is missing");
  const auto& tensor = found->second;
  const bool fits =
      tensor.scalar_type() == dtype &&
      std::equal(shape.begin(), shape.end(), tensor.sizes().begin(), tensor.sizes().end(),
                 [](int64_t expected, int64_t size) { return expected == size || expected == -1; });
  if (!fits) {
    refuse(name, fmt::format("is {} [{}], not {} [{}]", torch::toString(tensor.scalar_type()),
                             fmt::join(tensor.sizes().vec(), ", "), torch::toString(dtype),
                             fmt::join(shape, ", ")));
  }
  if (tensor.is_floating_point() && !torch::isfinite(tensor).all().item<bool>()) {
    refuse(name, "holds a value that is not a finite number");
  }
  return tensor.to(torch::kCPU).contiguous();
}

torch::Tensor SavedTensors::read_integers(const std::string& name,
                                          const std::vector<int64_t>& shape, int64_t low,
                                          int64_t high) const {
  auto tensor = read(name, torch::kInt64, shape);
  const auto* values = tensor.data_ptr<int64_t>();
  const auto* bad = std::find_if(values, values + tensor.numel(),
                                 [&](int64_t value) { return value < low || value > high; });
  if (bad != values + tensor.numel()) refuse(name, fmt::format("holds {}", *bad));
  return tensor;
}

void SavedTensors::refuse(const std::string& name, const std::string& problem) const {
  throw InputError(fmt::format("{}: \"{}\" {}", origin_, name, problem));
}

}  // namespace proca::models
