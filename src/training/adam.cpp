#include "training/adam.h"

#include <cmath>

#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include "proca/core/error.h"

namespace proca::training {
namespace {

constexpr double kMeanDecay = 0.9, kSquareDecay = 0.999, kEpsilon = 1e-8;

}  // namespace

Adam::Adam(std::vector<torch::Tensor> parameters, double lr)
    : parameters_(std::move(parameters)), moments_(parameters_.size()), lr_(lr) {}

void Adam::minimise(const torch::Tensor& loss) {
  const auto gradients =
      torch::autograd::grad({loss}, parameters_, /*grad_outputs=*/{}, /*retain_graph=*/false,
                            /*create_graph=*/false, /*allow_unused=*/true);
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& gradient = gradients[i];
    if (!gradient.defined()) continue;
    auto& [mean, square, updates] = moments_[i];
    if (!mean.defined()) {
      mean = torch::zeros_like(parameters_[i]);
      square = torch::zeros_like(parameters_[i]);
    }
    ++updates;
    mean.mul_(kMeanDecay).add_(gradient, 1 - kMeanDecay);
    square.mul_(kSquareDecay).addcmul_(gradient, gradient, 1 - kSquareDecay);
    const auto times = static_cast<double>(updates);
    const double mean_weight = 1 - std::pow(kMeanDecay, times);
    const double square_weight = 1 - std::pow(kSquareDecay, times);
    const auto deviations = square.sqrt().div_(std::sqrt(square_weight)).add_(kEpsilon);
    parameters_[i].addcdiv_(mean, deviations, -lr_ / mean_weight);
  }
}

void Adam::reset() { moments_.assign(parameters_.size(), {}); }

models::NamedTensors Adam::state() const {
  models::NamedTensors state;
  for (size_t i = 0; i < moments_.size(); ++i) {
    const auto& [mean, square, updates] = moments_[i];
    if (updates == 0) continue;
    state[fmt::format("mean.{}", i)] = mean;
    state[fmt::format("square.{}", i)] = square;
    state[fmt::format("updates.{}", i)] = torch::tensor({updates}, torch::kInt64);
  }
  return state;
}

void Adam::load_state(const models::NamedTensors& state) {
  std::vector<Moments> loaded(parameters_.size());
  size_t used = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto updates = state.find(fmt::format("updates.{}", i));
    if (updates == state.end()) continue;
    const auto moment = [&](std::string_view name) {
      const auto found = state.find(fmt::format("{}.{}", name, i));
      if (found == state.end() || found->second.sizes() != parameters_[i].sizes()) {
        throw InputError(
            fmt::format("Adam's state: {}.{} is missing or has another shape", name, i));
      }
      return found->second.to(parameters_[i].options(), /*non_blocking=*/false, /*copy=*/true);
    };
    loaded[i] = {moment("mean"), moment("square"), updates->second.item<int64_t>()};
    used += 3;
  }
  if (used != state.size()) {
    throw InputError(fmt::format("Adam's state: {} tensors, of which {} belong to a parameter",
                                 state.size(), used));
  }
  moments_ = std::move(loaded);
}

}  // namespace proca::training
