#pragma once

#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

namespace proca::training {

/// Parameters that are trained alike.
struct ParameterGroup {
  std::vector<torch::Tensor> parameters;
  double lr = 1e-3;
  double weight_decay = 0;
};

enum class Momentum { kClassic, kNesterov };

/// Stochastic gradient descent as `torch.optim.SGD` computes it:
///
///     d <- gradient + weight_decay * w
///     m <- momentum * m + d
///     w <- w - lr * m                       (Nesterov: lr * (d + momentum * m))
///
/// Our own rather than LibTorch's because its momentum must be saved and
/// restored exactly, and the layout of LibTorch's optimiser state differs
/// between versions.
class Sgd {
 public:
  Sgd(std::vector<ParameterGroup> groups, double momentum, Momentum kind = Momentum::kClassic);

  void zero_grad();
  /// As new: without momentum, at the groups' own rates. The tensors stay the same ones, so
  /// that recorded updates go on working.
  void reset();
  /// Whether it trains these very parameters, with these rates.
  bool trains(const std::vector<ParameterGroup>& groups) const;
  /// From the next update on the rate of every group is multiplied with it.
  void set_lr_scale(double scale);
  /// One update. Parameters without a gradient are left alone. On a GPU all of a group are
  /// done by one kernel, which takes its rate from the device's memory: an update that was
  /// recorded as part of a CUDA graph obeys `set_lr_scale` too.
  void step();

  /// Momentum by parameter, `momentum.0`, `momentum.1`, ...: live tensors.
  std::map<std::string, torch::Tensor> state() const;
  /// Copies what `state` gave. Throws `InputError` if names or shapes differ.
  void load_state(const std::map<std::string, torch::Tensor>& state);

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
