#include "methods/parts/class_weights.h"

namespace proca::methods {
namespace {

constexpr const char* kName = "class-weights";

}  // namespace

void ClassWeights::reset() {
  weights_ = torch::Tensor();
  some_are_zero_ = false;
}

void ClassWeights::set(const torch::Tensor& weights) {
  const auto as_float = weights.to(torch::kFloat32);
  some_are_zero_ = (as_float <= 0).any().item<bool>();
  weights_ = as_float.to(device_);
}

torch::Tensor ClassWeights::of(const torch::Tensor& labels) const {
  if (!weights_.defined()) return torch::ones(labels.sizes(), labels.device());
  return weights_.index_select(0, labels);
}

models::NamedTensors ClassWeights::save() const {
  if (!weights_.defined()) return {};
  return {{kName, weights_.to(torch::kCPU)}};
}

void ClassWeights::load(const models::NamedTensors& tensors) {
  reset();
  if (const auto found = tensors.find(kName); found != tensors.end()) set(found->second);
}

torch::Tensor mean_probabilities(const torch::Tensor& probabilities, double sharpness) {
  // softmax(s z) is p^s, normalised. The largest is made 1 first, so that a high
  // power of many small numbers is not zero everywhere.
  const auto p = probabilities.to(torch::kFloat64);
  const auto powers = (p / p.amax(1, /*keepdim=*/true)).pow(sharpness);
  return (powers / powers.sum(1, /*keepdim=*/true)).mean(0);
}

}  // namespace proca::methods
