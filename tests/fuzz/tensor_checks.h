#pragma once

#include <cstring>

#include <torch/types.h>

#include "fuzz_input.h"
#include "proca/models/weight_file.h"

namespace proca::fuzz {

/// Tensors lie inside their memory, and that is no larger than the file.
inline void check_tensors(const models::WeightFile& file, size_t file_size) {
  for (const auto& [name, tensor] : file.tensors) {
    require(tensor.defined(), "every tensor is there");
    require(tensor.storage().nbytes() <= file_size, "no tensor is larger than the file");
    require(tensor.numel() <= static_cast<int64_t>(file_size), "no tensor repeats its elements");
    // Touches every element.
    require(tensor.contiguous().nbytes() == tensor.nbytes(), "every tensor can be copied");
  }
}

/// NaNs are equal to themselves here.
inline bool same_bytes(const torch::Tensor& a, const torch::Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

}  // namespace proca::fuzz
