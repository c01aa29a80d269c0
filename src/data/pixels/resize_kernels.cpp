#include "data/pixels/resize_kernels.h"

namespace proca::data {
namespace {

void columns(ImageView source, const AxisFilter& filter, uint8_t* destination) {
  for (int64_t y = 0; y < source.height; ++y) {
    for (const Taps& taps : filter.taps) {
      const uint8_t* pixel = source.row(y) + taps.first * Image::kChannels;
      const int32_t* weights = filter.weights.data() + taps.offset;
      int32_t red = kHalf, green = kHalf, blue = kHalf;
      for (int32_t i = 0; i < taps.count; ++i, pixel += Image::kChannels) {
        red += pixel[0] * weights[i];
        green += pixel[1] * weights[i];
        blue += pixel[2] * weights[i];
      }
      *destination++ = resized_byte(red);
      *destination++ = resized_byte(green);
      *destination++ = resized_byte(blue);
    }
  }
}

void row(const uint8_t* source, int64_t stride, int64_t row_bytes, const AxisFilter& filter,
         const Taps& taps, uint8_t* destination) {
  resize_row(source, stride, row_bytes, filter, taps, destination);
}

}  // namespace

const ResizeKernels& portable_kernels() {
  static constexpr ResizeKernels kKernels = {columns, row};
  return kKernels;
}

}  // namespace proca::data
