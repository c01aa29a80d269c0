#include "proca/engine/sgd.h"

#include <fmt/format.h>
#include <torch/types.h>

#include "proca/core/error.h"

namespace proca::engine {

Sgd::Sgd(std::vector<ParameterGroup> groups, double momentum, Momentum kind)
    : groups_(std::move(groups)), momentum_(momentum), kind_(kind) {
  for (const auto& group : groups_) {
    auto& buffers = momentum_buffers_.emplace_back();
    for (const auto& parameter : group.parameters) {
      buffers.push_back(torch::zeros_like(parameter));
    }
  }
}

void Sgd::zero_grad() {
  for (auto& group : groups_) {
    for (auto& parameter : group.parameters) parameter.mutable_grad() = torch::Tensor();
  }
}

void Sgd::step(double lr_scale) {
  const torch::NoGradGuard no_grad;
  for (size_t g = 0; g < groups_.size(); ++g) {
    // Whole lists at a time: on a GPU each call below is one kernel, not one per tensor.
    std::vector<torch::Tensor> weights, directions, buffers;
    for (size_t p = 0; p < groups_[g].parameters.size(); ++p) {
      const auto& parameter = groups_[g].parameters[p];
      if (!parameter.grad().defined()) continue;
      weights.push_back(parameter);
      directions.push_back(parameter.grad());
      buffers.push_back(momentum_buffers_[g][p]);
    }
    if (weights.empty()) continue;
    if (groups_[g].weight_decay != 0) {
      // In place: the gradients are thrown away after the step.
      torch::_foreach_add_(directions, weights, groups_[g].weight_decay);
    }
    torch::_foreach_mul_(buffers, momentum_);
    torch::_foreach_add_(buffers, directions, 1.0);
    const double rate = groups_[g].lr * lr_scale;
    if (kind_ == Momentum::kNesterov) {
      torch::_foreach_add_(weights, directions, -rate);
      torch::_foreach_add_(weights, buffers, -rate * momentum_);
    } else {
      torch::_foreach_add_(weights, buffers, -rate);
    }
  }
}

std::map<std::string, torch::Tensor> Sgd::state() const {
  std::map<std::string, torch::Tensor> state;
  int64_t number = 0;
  for (const auto& buffers : momentum_buffers_) {
    for (const auto& buffer : buffers) state.emplace(fmt::format("momentum.{}", number++), buffer);
  }
  return state;
}

void Sgd::load_state(const std::map<std::string, torch::Tensor>& state) {
  const auto mine = this->state();
  if (mine.size() != state.size()) {
    throw InputError(
        fmt::format("optimiser state: {} tensors, expected {}", state.size(), mine.size()));
  }
  for (const auto& [name, buffer] : mine) {
    const auto saved = state.find(name);
    if (saved == state.end() || saved->second.sizes() != buffer.sizes()) {
      throw InputError(fmt::format("optimiser state: {} is missing or has another shape", name));
    }
  }
  const torch::NoGradGuard no_grad;
  for (const auto& [name, buffer] : mine) torch::Tensor(buffer).copy_(state.at(name));
}

}  // namespace proca::engine
