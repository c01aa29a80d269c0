#include "data/pixels/resize.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/data/decode.h"

#include "data/pixels/resize_kernels.h"

namespace proca::data {
namespace {

const ResizeKernels& best_kernels() {
  static const ResizeKernels& kernels =
      avx2_kernels() != nullptr ? *avx2_kernels() : portable_kernels();
  return kernels;
}

void check_sizes(ImageView source, int64_t width, int64_t height) {
  if (source.width <= 0 || source.height <= 0 || width <= 0 || height <= 0) {
    throw std::invalid_argument(fmt::format("resize: cannot make {} x {} pixels of {} x {}", width,
                                            height, source.width, source.height));
  }
}

void resize_rows(ImageView source, int64_t height, uint8_t* destination) {
  const auto filter = axis_filter(source.height, height);
  const int64_t row_bytes = source.width * Image::kChannels;
  for (const Taps& taps : filter->taps) {
    best_kernels().row(source.row(taps.first), source.row_stride, row_bytes, *filter, taps,
                       destination);
    destination += row_bytes;
  }
}

void resize_columns(ImageView source, int64_t width, uint8_t* destination) {
  best_kernels().columns(source, *axis_filter(source.width, width), destination);
}

void mirror_rows(int64_t width, std::span<uint8_t> pixels) {
  const int64_t row_bytes = width * Image::kChannels;
  for (auto row = pixels.begin(); row != pixels.end(); row += row_bytes) {
    for (int64_t left = 0, right = width - 1; left < right; ++left, --right) {
      std::swap_ranges(row + left * Image::kChannels, row + (left + 1) * Image::kChannels,
                       row + right * Image::kChannels);
    }
  }
}

void resize_into(ImageView source, int64_t width, int64_t height, std::span<uint8_t> destination) {
  check_sizes(source, width, height);
  if (static_cast<int64_t>(destination.size()) != image_bytes(width, height)) {
    throw std::invalid_argument(fmt::format("resize: {} bytes given for {} x {} pixels",
                                            destination.size(), width, height));
  }
  if (width == source.width) return resize_rows(source, height, destination.data());
  if (height == source.height) return resize_columns(source, width, destination.data());

  // Every source row is read by some output row, so none can be left out here.
  const auto narrowed = std::make_unique_for_overwrite<uint8_t[]>(
      static_cast<size_t>(image_bytes(width, source.height)));
  resize_columns(source, width, narrowed.get());
  resize_rows({narrowed.get(), width, source.height, width * Image::kChannels}, height,
              destination.data());
}

}  // namespace

Image resize(ImageView source, int64_t width, int64_t height) {
  check_sizes(source, width, height);
  Image result = Image::black(width, height);
  resize_into(source, width, height, result.pixels);
  return result;
}

Image resize_shorter_side(ImageView source, int64_t size) {
  check_sizes(source, size, size);
  const int64_t shorter = std::min(source.width, source.height);
  const int64_t longer = size * std::max(source.width, source.height) / shorter;
  if (size * longer > DecodeLimits{}.max_pixels) {
    throw InputError(fmt::format(
        "an image of {} x {} pixels is too thin: with a shorter side of {} the longer is {}",
        source.width, source.height, size, longer));
  }
  return source.width <= source.height ? resize(source, size, longer)
                                       : resize(source, longer, size);
}

void resized_crop_into(ImageView source, const Box& box, int64_t width, int64_t height, Flip flip,
                       std::span<uint8_t> destination) {
  if (box.width == width && box.height == height) {
    return copy_crop(source, box, flip, destination);
  }
  resize_into(crop_view(source, box), width, height, destination);
  if (flip == Flip::kHorizontal) mirror_rows(width, destination);
}

}  // namespace proca::data
