#include "models/weights/checked_shape.h"

#include <algorithm>
#include <cstring>

#include <torch/types.h>

namespace proca::models {

std::optional<int64_t> checked_num_elements(std::span<const int64_t> shape) {
  if (static_cast<int64_t>(shape.size()) > kMaxRank) return std::nullopt;
  int64_t product = 1;
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) empty = true;
    if (__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product)) return std::nullopt;
  }
  return empty ? 0 : product;
}

std::optional<int64_t> checked_num_bytes(int64_t count, torch::Dtype dtype) {
  int64_t bytes = 0;
  const auto element_size = static_cast<int64_t>(torch::elementSize(dtype));
  if (count < 0 || __builtin_mul_overflow(count, element_size, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<torch::Tensor> copy_tensor(std::span<const uint8_t> bytes,
                                         std::span<const int64_t> shape, torch::Dtype dtype) {
  if (dtype == torch::kBool &&
      std::any_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b > 1; })) {
    return std::nullopt;
  }
  auto tensor = torch::empty({shape.data(), shape.size()}, torch::dtype(dtype));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace proca::models
