#include "models/weights/finite_check.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <torch/types.h>

#include "proca/core/error.h"

namespace proca::models {

namespace {

// Whether sums of magnitudes are finite: two or three kernels for all tensors together instead
// of hundreds. A sum may also overflow, so only "yes" is certain.
bool have_finite_sums(const std::vector<torch::Tensor>& tensors) {
  const auto sums = at::_foreach_norm(tensors, /*ord=*/1);
  return torch::isfinite(torch::stack(sums)).all().item<bool>();
}

}  // namespace

std::optional<std::string> find_not_finite(const NamedTensors& tensors) {
  const torch::NoGradGuard no_grad;
  std::map<torch::ScalarType, std::vector<torch::Tensor>> by_type;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.is_floating_point() && tensor.numel() > 0) {
      by_type[tensor.scalar_type()].push_back(tensor.detach());
    }
  }
  if (std::all_of(by_type.begin(), by_type.end(),
                  [](const auto& entry) { return have_finite_sums(entry.second); })) {
    return std::nullopt;
  }
  for (const auto& [name, tensor] : tensors) {
    if (!torch::isfinite(tensor).all().item<bool>()) return name;
  }
  return std::nullopt;
}

void check_weights(const NamedTensors& weights, const std::string& origin) {
  if (const auto name = find_not_finite(weights)) {
    throw InputError(
        fmt::format("{}: \"{}\" has an element that is no finite number; these "
                    "weights cannot be used",
                    origin, *name));
  }
  for (const auto& [name, tensor] : weights) {
    if (!name.ends_with("running_var") || tensor.numel() == 0) continue;
    if (const auto least = tensor.min().item<double>(); least < 0) {
      throw InputError(
          fmt::format("{}: \"{}\" has the element {}, but no variance is below 0; "
                      "these weights cannot be used",
                      origin, name, least));
    }
  }
}

}  // namespace proca::models
