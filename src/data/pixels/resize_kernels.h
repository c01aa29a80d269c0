#pragma once

// The two inner loops of a resize. Both give, for every byte of the output,
//
//     clip( (sum of pixel * weight + half) >> kWeightBits )
//
// in exact 32-bit integers, so every implementation has the same result.

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

}  // namespace proca::data
