#pragma once

// How many numbers a step of a loop takes. A loop is written once for any of these, and compiled
// for the instructions that have registers of that length. Arithmetic, comparison and choice of
// the compiler's own vectors go number by number.

#include <cstdint>

namespace proca::kernels {

// A type in a template's argument would lose its attributes, so that these stand for it.
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
