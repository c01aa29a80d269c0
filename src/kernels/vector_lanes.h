#pragma once

// Vectors of 1, 8 and 16 floats. A loop is a template over these, instantiated for the
// instruction sets that have such registers. Operators of GCC's vector types are element-wise.

#include <cstdint>

namespace proca::kernels {

// Structs, because a type loses its attributes as a template argument.
struct One {
  using Value = float;
  using Stored = float;
  static constexpr int64_t kLanes = 1;
};
struct Eight {
  using Value [[gnu::vector_size(32)]] = float;
  using Stored [[gnu::vector_size(32), gnu::aligned(4)]] = float;
  static constexpr int64_t kLanes = 8;
};
struct Sixteen {
  using Value [[gnu::vector_size(64)]] = float;
  using Stored [[gnu::vector_size(64), gnu::aligned(4)]] = float;
  static constexpr int64_t kLanes = 16;
};

template <typename Lanes>
[[gnu::always_inline]] inline const typename Lanes::Stored& load(const float* numbers) {
  return *reinterpret_cast<const typename Lanes::Stored*>(numbers);
}
template <typename Lanes>
[[gnu::always_inline]] inline typename Lanes::Stored& place(float* numbers) {
  return *reinterpret_cast<typename Lanes::Stored*>(numbers);
}

}  // namespace proca::kernels
