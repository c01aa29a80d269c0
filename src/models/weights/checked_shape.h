#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <torch/types.h>

namespace proca::models {

/// No network has tensors of more dimensions; a file that has is broken.
inline constexpr int64_t kMaxRank = 16;

/// The number of elements of a shape, or nothing where a dimension is negative,
/// the rank is above `kMaxRank`, or a product overflows. A dimension of 0
/// counts as 1 for the overflow rule, because LibTorch multiplies the same
/// dimensions into strides whether or not the tensor is empty.
std::optional<int64_t> checked_num_elements(std::span<const int64_t> shape);

/// `count * element size of dtype`, or nothing where it overflows.
std::optional<int64_t> checked_num_bytes(int64_t count, torch::Dtype dtype);

/// A tensor with a copy of the bytes, whose number must match the shape: the caller
/// has checked it. Nothing where a boolean byte is neither 0 nor 1, which is
/// undefined behaviour in a bool.
std::optional<torch::Tensor> copy_tensor(std::span<const uint8_t> bytes,
                                         std::span<const int64_t> shape, torch::Dtype dtype);

}  // namespace proca::models
