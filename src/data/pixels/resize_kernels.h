#pragma once

// The two inner loops of a resize. Both compute every byte of the output as
//
//     clip( (sum of pixel * weight + half) >> kWeightBits )
//
// in exact 32-bit integers, so all implementations give the same result.

#include <algorithm>
#include <cstdint>

#include "proca/data/image.h"

#include "data/pixels/resize_filter.h"

namespace proca::data {

struct ResizeKernels {
  /// Resizes every row of `source` to `filter.out_size` pixels; `destination`
  /// has rows without gaps.
  void (*columns)(ImageView source, const AxisFilter& filter, uint8_t* destination);

  /// Computes one output row of `row_bytes` bytes. `source` is the first of the
  /// `taps.count` rows it reads, `stride` bytes apart.
  void (*row)(const uint8_t* source, int64_t stride, int64_t row_bytes, const AxisFilter& filter,
              const Taps& taps, uint8_t* destination);
};

/// Plain C++, for any processor.
const ResizeKernels& portable_kernels();

/// For x86 processors with AVX2; null where there is none.
const ResizeKernels* avx2_kernels();

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

/// The byte for a sum that began with `kHalf`. Weights are not negative, so neither is the sum.
inline uint8_t resized_byte(int32_t sum) {
  return static_cast<uint8_t>(std::min(sum >> kWeightBits, 255));
}

/// The row kernel. It is inlined into every implementation, where the compiler
/// vectorises it for that implementation's instruction set.
[[gnu::always_inline]] inline void resize_row(const uint8_t* source, int64_t stride,
                                              int64_t row_bytes, const AxisFilter& filter,
                                              const Taps& taps, uint8_t* destination) {
  constexpr int64_t kBlock = 64;  // sums that fit into registers
  const int32_t* weights = filter.weights.data() + taps.offset;
  if (row_bytes < kBlock) {
    for (int64_t x = 0; x < row_bytes; ++x) {
      int32_t sum = kHalf;
      for (int32_t i = 0; i < taps.count; ++i) sum += source[i * stride + x] * weights[i];
      destination[x] = resized_byte(sum);
    }
    return;
  }
  for (int64_t next = 0; next < row_bytes; next += kBlock) {
    const int64_t begin = std::min(next, row_bytes - kBlock);  // The last two blocks may overlap.
    int32_t sums[kBlock];
    std::fill_n(sums, kBlock, kHalf);
    for (int32_t i = 0; i < taps.count; ++i) {
      const uint8_t* bytes = source + i * stride + begin;
      for (int64_t x = 0; x < kBlock; ++x) sums[x] += bytes[x] * weights[i];
    }
    for (int64_t x = 0; x < kBlock; ++x) destination[begin + x] = resized_byte(sums[x]);
  }
}

}  // namespace proca::data
