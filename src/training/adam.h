#pragma once

#include <vector>

#include <torch/types.h>

#include "proca/models/named_tensors.h"

namespace proca::training {

/// Adam as `torch.optim.Adam` computes it, without weight decay: with g the gradient
/// and t the number of updates a parameter has had, this one included,
///
///     m <- 0.9 m + 0.1 g
///     v <- 0.999 v + 0.001 g^2
///     w <- w - lr * (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8)
///
/// For the phases of a method that minimises several objectives in turn. Our own rather than
/// LibTorch's because its state must be saved and restored exactly, and the layout
/// of LibTorch's optimiser state differs between versions.
class Adam {
 public:
  Adam(std::vector<torch::Tensor> parameters, double lr);

  /// One update against a scalar. Parameters that it does not depend on are left
  /// alone. No gradient stays behind on any parameter.
  void minimise(const torch::Tensor& loss);

  /// As if no update had been made.
  void reset();

  /// `mean.i`, `square.i` and `updates.i` of every parameter i that was updated.
  models::NamedTensors state() const;
  /// Copies what `state` returned. Throws `InputError` if something is missing or has
  /// another shape.
  void load_state(const models::NamedTensors& state);

 private:
  struct Moments {
    torch::Tensor mean, square;  // undefined before the first update
    int64_t updates = 0;
  };

  std::vector<torch::Tensor> parameters_;
  std::vector<Moments> moments_;  // by parameter
  double lr_;
};

}  // namespace proca::training
