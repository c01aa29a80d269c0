#pragma once

#include "proca/models/named_tensors.h"

namespace proca::methods {

/// The weight of each source class: 1 until a method has estimated which classes the
/// target shows.
class ClassWeights {
 public:
  explicit ClassWeights(torch::Device device) : device_(device) {}

  /// Back to 1 for every class.
  void reset();
  /// float or double [K], not negative.
  void set(const torch::Tensor& weights);
  /// The weight of each label's class, float [N], for labels on the device.
  torch::Tensor of(const torch::Tensor& labels) const;
  /// Whether a class may have the weight zero. Known on the host, without
  /// synchronisation.
  bool some_are_zero() const { return some_are_zero_; }

  /// For a method's `save` and `load`. Nothing while every class has weight 1.
  models::NamedTensors save() const;
  void load(const models::NamedTensors& tensors);

 private:
  torch::Device device_;
  torch::Tensor weights_;  // float [K] on the device; undefined: 1 for every class
  bool some_are_zero_ = false;
};

/// The mean over images of softmax(sharpness * logits), double [K], adding up to 1;
/// from the probabilities softmax(logits) alone, float [N, K], N > 0, on the CPU.
torch::Tensor mean_probabilities(const torch::Tensor& probabilities, double sharpness = 1);

}  // namespace proca::methods
