#pragma once

#include <cstdint>
#include <string>

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "models/nets/linear_layers.h"

namespace proca::methods {

/// The architecture of a `Discriminator`.
struct DiscriminatorOptions {
  int64_t inputs = 1;  ///< size of a feature
  int64_t hidden = 1024;
  int64_t outputs = 1;
  enum class Norm { kNone, kBatch } norm = Norm::kNone;
  double dropout = 0;  ///< probability, for hidden units
  models::LinearStart first = {}, second = {}, last = {};
  std::string purpose = "discriminator";  ///< of the random streams of initial weights
};

/// An MLP with two hidden layers, from features to logits:
///
///     linear [batch-norm] relu [dropout]    inputs -> hidden
///     linear [batch-norm] relu [dropout]    hidden -> hidden
///     linear                                hidden -> outputs
///
/// With one output it is a domain discriminator. There is no sigmoid at the end: losses on
/// logits never take the logarithm of a rounded zero.
///
/// It is used in training only, so batch-norm keeps no running statistics.
class DiscriminatorImpl : public torch::nn::Module {
 public:
  DiscriminatorImpl(const DiscriminatorOptions& options, uint64_t seed);

  /// float [N, inputs] -> float [N, outputs].
  torch::Tensor forward(const torch::Tensor& features);
  /// For one output: float [N, inputs] -> float [N].
  torch::Tensor scores(const torch::Tensor& features) { return forward(features).squeeze(1); }

 private:
  torch::Tensor hidden(torch::Tensor values, torch::nn::BatchNorm1d& norm);

  double dropout_;
  torch::nn::Linear first_, second_, last_;
  torch::nn::BatchNorm1d first_norm_{nullptr}, second_norm_{nullptr};
};
TORCH_MODULE(Discriminator);

}  // namespace proca::methods
