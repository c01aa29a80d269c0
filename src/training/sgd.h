#pragma once

#include <vector>

#include <torch/types.h>

#include "proca/methods/method.h"

namespace proca::training {

/// Parameters with the same rates.
struct ParameterGroup {
  std::vector<torch::Tensor> parameters;
  double lr = 1e-3;
  double weight_decay = 0;
};

using Momentum = methods::TrainingRecipe::Momentum;

/// Stochastic gradient descent as `torch.optim.SGD` computes it:
///
///     d <- gradient + weight_decay * w
///     m <- momentum * m + d
///     w <- w - lr * m                       (Nesterov: lr * (d + momentum * m))
///
/// Our own because its momentum must be saved and restored exactly, and the layout of
/// LibTorch's optimiser state differs between versions.
class Sgd {
 public:
  Sgd(std::vector<ParameterGroup> groups, double momentum, Momentum kind = Momentum::kClassic);

  void zero_grad();
  /// As new: without momentum, at the groups' own rates. The tensors stay the same, so that
  /// captured updates stay valid.
  void reset();
  /// The factor of every group's rate from the next update on.
  void set_lr_scale(double scale);
  /// One update. Parameters without a gradient are left alone. On a GPU one kernel updates
  /// a whole group, with the rate in the device's memory: an update in a CUDA graph obeys
  /// `set_lr_scale`, too.
  void step();

  /// Momentum by parameter, `momentum.0`, `momentum.1`, ...: live tensors.
  models::NamedTensors state() const;
  /// Copies what `state` returned. Throws `InputError` if names or shapes differ.
  void load_state(const models::NamedTensors& state);

 private:
  std::vector<ParameterGroup> groups_;
  // The parameters of a group that have a gradient.
  struct Update {
    std::vector<torch::Tensor> weights, gradients, buffers;
  };
  Update update_of(size_t group) const;
  void step_in_passes(Update update, const ParameterGroup& group) const;

  std::vector<std::vector<torch::Tensor>> momentum_buffers_;  // by group and parameter
  std::vector<torch::Tensor> rates_;  // by group: lr times scale, on the device; for kernels
  double lr_scale_ = 1;
  double momentum_;
  Momentum kind_;
};

}  // namespace proca::training
