// AVX2 version of the horizontal loop: the compiler does not vectorise it, with three bytes
// per pixel. Decoding and resizing photographs of 300 pixels takes 1.6 times as long without it.
//
// A weight has 23 bits, the fast multiplier (vpmaddwd: two products of 16-bit
// numbers, added) takes 16. So each weight comes in a low and a high part, the
// parts are summed up separately, and `low + (high << 15)` at the end is the
// exact sum. (Intermediate sums may wrap around; modulo 2^32 the end is right.)

#include "data/pixels/resize_kernels.h"

#if defined(__x86_64__)

#include <cstring>
#include <vector>

#include <immintrin.h>

// The rest of the program runs on any x86: only these functions use the instructions, and
// they are called only after the check in `avx2_kernels`.

namespace proca::data {
namespace {

constexpr int64_t kLoadBytes = 16;
constexpr int kTogether = 4;  // rows that share the loading of weights

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

// The bytes (r g b 0) of an output pixel, from the sums with both parts of the weights.
[[gnu::target("avx2")]] inline int32_t to_bytes(__m256i low, __m256i high) {
  const __m256i halves = _mm256_add_epi32(low, _mm256_slli_epi32(high, AxisFilter::kLowBits));
  const __m128i sums =
      _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
  const __m128i levels = _mm_srai_epi32(_mm_add_epi32(sums, _mm_set1_epi32(kHalf)), kWeightBits);
  const __m128i words = _mm_packus_epi32(levels, levels);
  return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
}

// Reads up to `kLoadBytes` beyond each of the source rows.
[[gnu::target("avx2")]] void resize_rows(const uint8_t* const (&sources)[kTogether],
                                         const AxisFilter& filter,
                                         uint8_t* const (&destinations)[kTogether]) {
  const __m256i zero = _mm256_setzero_si256();
  for (int64_t i = 0; i < filter.out_size; ++i) {
    const Taps& taps = filter.taps[static_cast<size_t>(i)];
    const int16_t* low = filter.low.data() + taps.offset;
    const int16_t* high = filter.high.data() + taps.offset;
    __m256i low_sums[kTogether] = {zero, zero, zero, zero};
    __m256i high_sums[kTogether] = {zero, zero, zero, zero};
    for (int64_t t = 0; t < taps.count; t += AxisFilter::kTapGroup) {
      const int64_t offset = (taps.first + t) * Image::kChannels;
      const __m256i low_weights = weight_pairs(low + t);
      const __m256i high_weights = weight_pairs(high + t);
#pragma GCC unroll 4
      for (int r = 0; r < kTogether; ++r) {
        const __m256i pairs = pixel_pairs(sources[r] + offset);
        low_sums[r] = _mm256_add_epi32(low_sums[r], _mm256_madd_epi16(pairs, low_weights));
        high_sums[r] = _mm256_add_epi32(high_sums[r], _mm256_madd_epi16(pairs, high_weights));
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTogether; ++r) {
      const int32_t bytes = to_bytes(low_sums[r], high_sums[r]);
      uint8_t* pixel = destinations[r] + i * Image::kChannels;
      if (i + 1 < filter.out_size) {
        std::memcpy(pixel, &bytes, 4);  // The next pixel overwrites the zero.
      } else {
        std::memcpy(pixel, &bytes, 3);
      }
    }
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
      const int64_t row = std::min(y + r, source.height - 1);  // The last may be done twice.
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

[[gnu::target("avx2")]] void row(const uint8_t* source, int64_t stride, int64_t row_bytes,
                                 const AxisFilter& filter, const Taps& taps, uint8_t* destination) {
  resize_row(source, stride, row_bytes, filter, taps, destination);
}

}  // namespace

const ResizeKernels* avx2_kernels() {
  static constexpr ResizeKernels kKernels = {columns, row};
  return __builtin_cpu_supports("avx2") ? &kKernels : nullptr;
}

}  // namespace proca::data

#else

const proca::data::ResizeKernels* proca::data::avx2_kernels() { return nullptr; }

#endif
