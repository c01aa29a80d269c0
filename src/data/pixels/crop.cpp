#include "proca/data/crop.h"

#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace proca::data {
namespace {

// Half of `length`, halves rounded to even as Python's round() does.
int64_t rounded_half(int64_t length) {
  const int64_t half = length / 2;
  return length % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

void copy_row_mirrored(const uint8_t* source, int64_t width, uint8_t* destination) {
  const uint8_t* pixel = source + width * Image::kChannels;
  for (int64_t x = 0; x < width; ++x, destination += Image::kChannels) {
    pixel -= Image::kChannels;
    destination[0] = pixel[0];
    destination[1] = pixel[1];
    destination[2] = pixel[2];
  }
}

}  // namespace

ImageView crop_view(ImageView image, const Box& box) {
  const bool inside = box.left >= 0 && box.top >= 0 && box.width > 0 && box.height > 0 &&
                      box.width <= image.width - box.left && box.height <= image.height - box.top;
  if (!inside) {
    throw std::invalid_argument(
        fmt::format("crop: {} x {} pixels at ({}, {}) are not inside {} x {}", box.width,
                    box.height, box.left, box.top, image.width, image.height));
  }
  return {image.row(box.top) + box.left * Image::kChannels, box.width, box.height,
          image.row_stride};
}

void copy_crop(ImageView image, const Box& box, Flip flip, std::span<uint8_t> destination) {
  const ImageView source = crop_view(image, box);
  if (static_cast<int64_t>(destination.size()) != image_bytes(box.width, box.height)) {
    throw std::invalid_argument(fmt::format("copy_crop: {} bytes given for {} x {} pixels",
                                            destination.size(), box.width, box.height));
  }
  const int64_t row_bytes = box.width * Image::kChannels;
  for (int64_t y = 0; y < box.height; ++y) {
    uint8_t* row = destination.data() + y * row_bytes;
    if (flip == Flip::kHorizontal) {
      copy_row_mirrored(source.row(y), box.width, row);
    } else {
      std::memcpy(row, source.row(y), static_cast<size_t>(row_bytes));
    }
  }
}

Box centre_box(int64_t width, int64_t height, int64_t size) {
  if (size <= 0 || size > width || size > height) {
    throw std::invalid_argument(
        fmt::format("centre_box: {} pixels cannot be cut from {} x {}", size, width, height));
  }
  return {rounded_half(width - size), rounded_half(height - size), size, size};
}

}  // namespace proca::data
