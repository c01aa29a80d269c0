#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/methods/method.h"
#include "proca/models/named_tensors.h"

namespace proca::methods {

/// What was decided about a step, as tensors of a checkpoint: `shared.*`, `pseudo.*` and
/// `source_prior`. The detection's options are not among them.
models::NamedTensors save_decisions(const StepDecisions& decisions);

/// Restores what `save_decisions` returned. Throws `InputError` naming what is missing.
StepDecisions load_decisions(const models::NamedTensors& tensors,
                             const adaptation::DetectionOptions& detection);

/// A tensor of a method's saved state; throws `InputError` if there is none of that type.
torch::Tensor saved_tensor(const models::NamedTensors& tensors, const std::string& name,
                           torch::Dtype type);

// float64 or int64 [n] <-> std::vector, for saving.
inline torch::Tensor to_tensor(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}
inline torch::Tensor to_tensor(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}
template <typename T>
std::vector<T> to_vector(const torch::Tensor& tensor) {
  const auto values = tensor.contiguous();
  return {values.template data_ptr<T>(), values.template data_ptr<T>() + values.numel()};
}

/// The images with that label, ascending.
std::vector<int64_t> images_of_class(const torch::Tensor& labels, int64_t label);

}  // namespace proca::methods
