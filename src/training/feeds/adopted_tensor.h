#pragma once

#include <memory>
#include <vector>

#include <torch/types.h>

namespace proca::training {

/// A tensor that owns a vector's memory, without a copy.
template <typename T>
torch::Tensor adopt(std::vector<T> values, at::IntArrayRef shape) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  return torch::from_blob(
      owner->data(), shape, [owner](void*) {}, c10::CppTypeToScalarType<T>::value);
}

}  // namespace proca::training
