#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include <torch/torch.h>

#include "proca/models/classifier_network.h"

namespace proca::test {

/// `count` numbers in [0, 1) that depend on `name` alone, float64. The same
/// integer arithmetic as `uniform` in golden/make_parity.py.
inline torch::Tensor uniform_formula(std::string_view name, int64_t count) {
  uint32_t seed = 0x811c9dc5U;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x01000193U;
  auto result = torch::empty({count}, torch::kFloat64);
  auto* values = result.data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) {
    uint32_t x = static_cast<uint32_t>(i) * 0x9e3779b1U + seed;
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    x ^= x >> 16;
    values[i] = static_cast<double>(x) / 4294967296.0;
  }
  return result;
}

/// The value of a tensor of that name and shape; `formula` in golden/make_parity.py.
inline torch::Tensor formula(std::string_view name, torch::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  auto values = uniform_formula(name, count);
  if (name.ends_with("num_batches_tracked")) {
    values.zero_();
  } else if (name.ends_with("running_var")) {
    values = 0.5 + values;
  } else if (name.ends_with("running_mean") || name.ends_with("bias")) {
    values = 0.2 * values - 0.1;
  } else if (shape.size() == 1) {
    values = 0.5 + 0.5 * values;
  } else {
    const double fan_in = static_cast<double>(count / shape.front());
    values = (2 * values - 1) * std::sqrt(6 / fan_in);
  }
  return values.view(shape).to(torch::kFloat32);
}

/// Fills every parameter and buffer of a network by formula.
inline void fill_by_formula(models::ClassifierNetwork& network) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : network->state()) tensor.copy_(formula(name, tensor.sizes()));
}

/// A network by name, filled by formula, in evaluation mode.
inline models::ClassifierNetwork formula_network(
    const std::string& backbone, int64_t num_classes,
    models::StrideIn stride_in = models::StrideIn::k3x3) {
  models::ClassifierNetwork network(
      models::make_backbone({.name = backbone, .stride_in = stride_in}), num_classes, /*seed=*/0);
  fill_by_formula(network);
  network->eval();
  return network;
}

/// Images by formula, scaled to about +-1; `images` in golden/make_parity.py for 2 of 64 pixels.
inline torch::Tensor formula_images(int64_t count, int64_t size) {
  return formula("images", {count, 3, size, size}) * 30;
}

/// The largest absolute difference of two tensors, relative to `expected` where that is above 1.
inline double largest_difference(const torch::Tensor& actual, const torch::Tensor& expected) {
  const auto reference = expected.to(torch::kFloat64);
  return ((actual.detach().to(torch::kFloat64) - reference).abs() / reference.abs().clamp_min(1.0))
      .max()
      .item<double>();
}

}  // namespace proca::test
