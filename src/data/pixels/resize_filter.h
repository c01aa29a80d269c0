#pragma once

// The weights with which one axis is resized.

#include <cstdint>
#include <memory>
#include <vector>

namespace proca::data {

/// Weights are whole multiples of 2^-22: 8 bits of pixel and 2 bits of headroom
/// then fit into 32.
constexpr int kWeightBits = 22;

/// An output pixel reads source pixels `first` .. `first + count - 1`; its
/// weights begin at `offset` in the filter's arrays.
struct Taps {
  int32_t first = 0;
  int32_t count = 0;
  int64_t offset = 0;
};

/// Weights of every output pixel along one axis, always in [0, 2^22]. Each
/// pixel's weights are followed by zeros up to a multiple of `kTapGroup`.
///
/// `low` and `high` hold the same weights in two parts that fit the 16-bit
/// multipliers of vector units: `weight = low + (high << kLowBits)`.
struct AxisFilter {
  static constexpr int64_t kTapGroup = 4;
  static constexpr int kLowBits = 15;

  int64_t in_size = 0;
  int64_t out_size = 0;
  std::vector<Taps> taps;  ///< one per output pixel; `first` never decreases
  std::vector<int32_t> weights;
  std::vector<int16_t> low;
  std::vector<int16_t> high;
};

/// The filter from `in_size` to `out_size` pixels. The last few are remembered
/// per thread: most images of a data set go through the same ones.
std::shared_ptr<const AxisFilter> axis_filter(int64_t in_size, int64_t out_size);

}  // namespace proca::data
