#pragma once

#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

namespace proca::engine {

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
  /// One update; `lr_scale` multiplies the rate of every group. Parameters
  /// without a gradient are left alone.
  void step(double lr_scale = 1.0);

  /// Momentum by parameter, `momentum.0`, `momentum.1`, ...: live tensors.
  std::map<std::string, torch::Tensor> state() const;
  /// Copies what `state` gave. Throws `InputError` if names or shapes differ.
  void load_state(const std::map<std::string, torch::Tensor>& state);

 private:
  std::vector<ParameterGroup> groups_;
  std::vector<std::vector<torch::Tensor>> momentum_buffers_;  // by group and parameter
  double momentum_;
  Momentum kind_;
};

}  // namespace proca::engine
