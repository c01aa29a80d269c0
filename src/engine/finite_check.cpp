#include "finite_check.h"

#include <vector>

#include <torch/types.h>

namespace proca::engine {

std::optional<std::string> find_not_finite(const models::NamedTensors& tensors) {
  const torch::NoGradGuard no_grad;
  std::vector<std::string> names;
  std::vector<torch::Tensor> answers;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_floating_point() || tensor.numel() == 0) continue;
    names.push_back(name);
    answers.push_back(torch::isfinite(tensor).all());
  }
  if (answers.empty()) return std::nullopt;
  const auto are_finite = torch::stack(answers).cpu();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!are_finite[static_cast<int64_t>(i)].item<bool>()) return names[i];
  }
  return std::nullopt;
}

}  // namespace proca::engine
