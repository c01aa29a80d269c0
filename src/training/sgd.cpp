#include "training/sgd.h"

#include <fmt/format.h>
#include <torch/types.h>
#include <torch/version.h>

#include "proca/core/error.h"

namespace proca::training {

Sgd::Sgd(std::vector<ParameterGroup> groups, double momentum, Momentum kind)
    : groups_(std::move(groups)), momentum_(momentum), kind_(kind) {
  for (const auto& group : groups_) {
    auto& buffers = momentum_buffers_.emplace_back();
    for (const auto& parameter : group.parameters) {
      buffers.push_back(torch::zeros_like(parameter));
    }
    const auto device =
        group.parameters.empty() ? torch::Device(torch::kCPU) : group.parameters.front().device();
    rates_.push_back(torch::full({}, group.lr, torch::dtype(torch::kFloat32).device(device)));
  }
}

void Sgd::zero_grad() {
  for (auto& group : groups_) {
    for (auto& parameter : group.parameters) parameter.mutable_grad() = torch::Tensor();
  }
}

void Sgd::reset() {
  set_lr_scale(1);
  const torch::NoGradGuard no_grad;
  for (auto& buffers : momentum_buffers_) {
    for (auto& buffer : buffers) buffer.zero_();
  }
}

void Sgd::set_lr_scale(double scale) {
  if (scale == lr_scale_) return;
  lr_scale_ = scale;
  const torch::NoGradGuard no_grad;
  for (size_t g = 0; g < rates_.size(); ++g) rates_[g].fill_(groups_[g].lr * scale);
}

Sgd::Update Sgd::update_of(size_t group) const {
  Update update;
  for (size_t p = 0; p < groups_[group].parameters.size(); ++p) {
    const auto& parameter = groups_[group].parameters[p];
    if (!parameter.grad().defined()) continue;
    update.weights.push_back(parameter);
    update.gradients.push_back(parameter.grad());
    update.buffers.push_back(momentum_buffers_[group][p]);
  }
  return update;
}

void Sgd::step() {
  const torch::NoGradGuard no_grad;
  for (size_t g = 0; g < groups_.size(); ++g) {
    auto update = update_of(g);
    if (update.weights.empty()) continue;
// One kernel for all parameters.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    if (update.weights.front().is_cuda()) {
      at::_fused_sgd_(update.weights, update.gradients, update.buffers, groups_[g].weight_decay,
                      momentum_, rates_[g], /*dampening=*/0, kind_ == Momentum::kNesterov,
                      /*maximize=*/false, /*is_first_step=*/false);
      continue;
    }
#endif
    step_in_passes(std::move(update), groups_[g]);
  }
}

void Sgd::step_in_passes(Update update, const ParameterGroup& group) const {
  auto& [weights, directions, buffers] = update;
  if (group.weight_decay != 0) {
    // In place: the gradients are thrown away after the step.
    torch::_foreach_add_(directions, weights, group.weight_decay);
  }
  torch::_foreach_mul_(buffers, momentum_);
  torch::_foreach_add_(buffers, directions, 1.0);
  const double rate = group.lr * lr_scale_;
  if (kind_ == Momentum::kNesterov) {
    torch::_foreach_add_(weights, directions, -rate);
    torch::_foreach_add_(weights, buffers, -rate * momentum_);
  } else {
    torch::_foreach_add_(weights, buffers, -rate);
  }
}

models::NamedTensors Sgd::state() const {
  models::NamedTensors state;
  int64_t index = 0;
  for (const auto& buffers : momentum_buffers_) {
    for (const auto& buffer : buffers) state.emplace(fmt::format("momentum.{}", index++), buffer);
  }
  return state;
}

void Sgd::load_state(const models::NamedTensors& state) {
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

}  // namespace proca::training
