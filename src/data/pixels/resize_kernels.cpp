#include "data/pixels/resize_kernels.h"

#include <algorithm>
#include <array>

namespace proca::data {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t to_byte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

void columns(ImageView source, const AxisFilter& filter, uint8_t* destination) {
  for (int64_t y = 0; y < source.height; ++y) {
    const uint8_t* row = source.row(y);
    for (const Taps& taps : filter.taps) {
      const uint8_t* pixel = row + taps.first * Image::kChannels;
      const int32_t* weights = filter.weights.data() + taps.offset;
      int32_t red = kHalf, green = kHalf, blue = kHalf;
      for (int32_t i = 0; i < taps.count; ++i, pixel += Image::kChannels) {
        red += pixel[0] * weights[i];
        green += pixel[1] * weights[i];
        blue += pixel[2] * weights[i];
      }
      *destination++ = to_byte(red);
      *destination++ = to_byte(green);
      *destination++ = to_byte(blue);
    }
  }
}

void row(const uint8_t* source, int64_t stride, int64_t row_bytes, const AxisFilter& filter,
         const Taps& taps, uint8_t* destination) {
  // Sums for a stretch of the row stay in the nearest cache while the taps go by.
  std::array<int32_t, 256> sums;
  const int32_t* weights = filter.weights.data() + taps.offset;
  for (int64_t begin = 0; begin < row_bytes; begin += std::ssize(sums)) {
    const int64_t count = std::min(std::ssize(sums), row_bytes - begin);
    std::fill_n(sums.begin(), count, kHalf);
    for (int32_t i = 0; i < taps.count; ++i) {
      const uint8_t* bytes = source + i * stride + begin;
      const int32_t weight = weights[i];
      for (int64_t x = 0; x < count; ++x) sums[static_cast<size_t>(x)] += bytes[x] * weight;
    }
    std::transform(sums.begin(), sums.begin() + count, destination + begin, to_byte);
  }
}

}  // namespace

const ResizeKernels& portable_kernels() {
  static constexpr ResizeKernels kKernels = {columns, row};
  return kKernels;
}

}  // namespace proca::data
