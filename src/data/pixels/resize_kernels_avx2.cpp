// AVX2 versions of the two loops.
//
// A weight has 23 bits, the fast multiplier (vpmaddwd: two products of 16-bit
// numbers, added) takes 16. So each weight comes in a low and a high part, the
// parts are summed up separately, and `low + (high << 15)` at the end is the
// exact sum. (Intermediate sums may wrap around; modulo 2^32 the end is right.)

#include "data/pixels/resize_kernels.h"

#if defined(__x86_64__)

#include <algorithm>
#include <cstring>
#include <vector>

#include <immintrin.h>

// The rest of the program runs on any x86: functions that use the instructions
// say so one by one, and are called only after the check in `avx2_kernels`.

namespace proca::data {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);
constexpr int64_t kLoadBytes = 16;
constexpr int kTogether = 4;  // rows that are narrowed side by side

[[gnu::target("avx2")]] inline __m256i load(const uint8_t* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

// The sums of both parts of the weights made one.
[[gnu::target("avx2")]] inline __m256i join(__m256i low, __m256i high) {
  return _mm256_add_epi32(low, _mm256_slli_epi32(high, AxisFilter::kLowBits));
}

[[gnu::target("avx2")]] inline __m256i to_level(__m256i sums) {
  return _mm256_srai_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(kHalf)), kWeightBits);
}

// Bytes of four RGB pixels to 16-bit numbers, in the order the multiplier adds
// up: (r0 r1)(g0 g1)(b0 b1)(- -) in the lower half, pixels 2 and 3 in the upper.
[[gnu::target("avx2")]] inline __m256i pixel_pairs(const uint8_t* pixels) {
  const __m256i order =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,  //
                       6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), order);
}

// Four 16-bit weights, spread to match `pixel_pairs`.
[[gnu::target("avx2")]] inline __m256i weight_pairs(const int16_t* weights) {
  const __m256i order = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights));
  return _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four), order);
}

// The levels of two rows' sums, (r g b -) each: the even pixels were summed up
// in the lower halves, the odd ones in the upper.
[[gnu::target("avx2")]] inline __m256i fold(__m256i a, __m256i b) {
  return to_level(_mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                                   _mm256_permute2x128_si256(a, b, 0x31)));
}

// One output pixel of `kTogether` rows as (r g b 0) bytes each, rows in the
// order 0 2 1 3. The rows share the loading of the weights.
[[gnu::target("avx2")]] inline __m128i resize_pixel(const uint8_t* const (&rows)[kTogether],
                                                    const AxisFilter& filter, const Taps& taps) {
  const int16_t* low = filter.low.data() + taps.offset;
  const int16_t* high = filter.high.data() + taps.offset;
  const __m256i zero = _mm256_setzero_si256();
  __m256i low_sums[kTogether] = {zero, zero, zero, zero};
  __m256i high_sums[kTogether] = {zero, zero, zero, zero};
  for (int64_t t = 0; t < taps.count; t += AxisFilter::kTapGroup) {
    const int64_t offset = (taps.first + t) * Image::kChannels;
    const __m256i low_weights = weight_pairs(low + t);
    const __m256i high_weights = weight_pairs(high + t);
#pragma GCC unroll 4
    for (int r = 0; r < kTogether; ++r) {
      const __m256i pairs = pixel_pairs(rows[r] + offset);
      low_sums[r] = _mm256_add_epi32(low_sums[r], _mm256_madd_epi16(pairs, low_weights));
      high_sums[r] = _mm256_add_epi32(high_sums[r], _mm256_madd_epi16(pairs, high_weights));
    }
  }
  const __m256i words =
      _mm256_packus_epi32(fold(join(low_sums[0], high_sums[0]), join(low_sums[1], high_sums[1])),
                          fold(join(low_sums[2], high_sums[2]), join(low_sums[3], high_sums[3])));
  const __m256i bytes = _mm256_packus_epi16(words, words);
  return _mm_unpacklo_epi64(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
}

// Stores `size` bytes of each row's pixel.
template <int64_t size>
[[gnu::target("avx2")]] inline void store_pixel(__m128i pixel, uint8_t* const (&rows)[kTogether],
                                                int64_t offset) {
  const int32_t row_pixels[kTogether] = {_mm_extract_epi32(pixel, 0), _mm_extract_epi32(pixel, 2),
                                         _mm_extract_epi32(pixel, 1), _mm_extract_epi32(pixel, 3)};
#pragma GCC unroll 4
  for (int r = 0; r < kTogether; ++r) std::memcpy(rows[r] + offset, &row_pixels[r], size);
}

// Reads up to `kLoadBytes` beyond each of the source rows.
[[gnu::target("avx2")]] void resize_rows(const uint8_t* const (&sources)[kTogether],
                                         const AxisFilter& filter,
                                         uint8_t* const (&destinations)[kTogether]) {
  for (int64_t i = 0; i < filter.out_size; ++i) {
    const __m128i pixel = resize_pixel(sources, filter, filter.taps[static_cast<size_t>(i)]);
    if (i + 1 < filter.out_size) {
      store_pixel<4>(pixel, destinations, i * Image::kChannels);  // the next one covers the zero
    } else {
      store_pixel<3>(pixel, destinations, i * Image::kChannels);
    }
  }
}

// Two neighbouring 16-bit weights in every 32-bit lane.
[[gnu::target("avx2")]] inline __m256i weight_pair(const int16_t* weights) {
  int32_t pair;
  std::memcpy(&pair, weights, sizeof(pair));
  return _mm256_set1_epi32(pair);
}

[[gnu::target("avx2")]] void row(const uint8_t* source, int64_t stride, int64_t row_bytes,
                                 const AxisFilter& filter, const Taps& taps, uint8_t* destination) {
  constexpr int64_t kStep = 32;
  const int16_t* low = filter.low.data() + taps.offset;
  const int16_t* high = filter.high.data() + taps.offset;
  const __m256i zero = _mm256_setzero_si256();

  int64_t x = 0;
  for (; x + kStep <= row_bytes; x += kStep) {
    __m256i low_sums[4] = {zero, zero, zero, zero};
    __m256i high_sums[4] = {zero, zero, zero, zero};
    for (int64_t t = 0; t < taps.count; t += 2) {
      // An odd number of taps is filled up with a zero weight; any row will do.
      const uint8_t* upper_row = source + t * stride + x;
      const uint8_t* lower_row = t + 1 < taps.count ? upper_row + stride : upper_row;
      const __m256i first = _mm256_unpacklo_epi8(load(upper_row), load(lower_row));
      const __m256i second = _mm256_unpackhi_epi8(load(upper_row), load(lower_row));
      const __m256i pairs[4] = {
          _mm256_unpacklo_epi8(first, zero), _mm256_unpackhi_epi8(first, zero),
          _mm256_unpacklo_epi8(second, zero), _mm256_unpackhi_epi8(second, zero)};
      const __m256i low_weights = weight_pair(low + t);
      const __m256i high_weights = weight_pair(high + t);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        low_sums[i] = _mm256_add_epi32(low_sums[i], _mm256_madd_epi16(pairs[i], low_weights));
        high_sums[i] = _mm256_add_epi32(high_sums[i], _mm256_madd_epi16(pairs[i], high_weights));
      }
    }
    // Packing works within 128-bit halves, as did the unpacking: the order comes out right.
    const __m256i words[2] = {_mm256_packus_epi32(to_level(join(low_sums[0], high_sums[0])),
                                                  to_level(join(low_sums[1], high_sums[1]))),
                              _mm256_packus_epi32(to_level(join(low_sums[2], high_sums[2])),
                                                  to_level(join(low_sums[3], high_sums[3])))};
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(destination + x),
                        _mm256_packus_epi16(words[0], words[1]));
  }
  if (x < row_bytes) {
    portable_kernels().row(source + x, stride, row_bytes - x, filter, taps, destination + x);
  }
}

void columns(ImageView source, const AxisFilter& filter, uint8_t* destination) {
  const int64_t row_bytes = source.width * Image::kChannels;
  const int64_t padded_bytes = row_bytes + kLoadBytes;
  const uint8_t* end = source.row(source.height - 1) + row_bytes;
  std::vector<uint8_t> padded(static_cast<size_t>(padded_bytes * kTogether));

  for (int64_t y = 0; y < source.height; y += kTogether) {
    const uint8_t* sources[kTogether];
    uint8_t* destinations[kTogether];
    for (int64_t r = 0; r < kTogether; ++r) {
      const int64_t row = std::min(y + r, source.height - 1);  // the last may be done twice
      sources[r] = source.row(row);
      destinations[r] = destination + image_bytes(filter.out_size, row);
      // The last rows are copied to where there is room to read beyond them.
      if (end - sources[r] < padded_bytes) {
        uint8_t* copy = padded.data() + r * padded_bytes;
        std::memcpy(copy, sources[r], static_cast<size_t>(row_bytes));
        sources[r] = copy;
      }
    }
    resize_rows(sources, filter, destinations);
  }
}

}  // namespace

const ResizeKernels* avx2_kernels() {
  static constexpr ResizeKernels kKernels = {columns, row};
  return __builtin_cpu_supports("avx2") ? &kKernels : nullptr;
}

}  // namespace proca::data

#else

namespace proca::data {

const ResizeKernels* avx2_kernels() { return nullptr; }

}  // namespace proca::data

#endif
