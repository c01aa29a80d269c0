#pragma once

// Crops as images of their own, of the functions that write to memory of the caller.

#include "data/pixels/resize.h"
#include "proca/data/crop.h"

namespace proca::test {

inline data::Image resized_crop(data::ImageView image, const data::Box& box, int64_t width,
                                int64_t height, data::Flip flip = data::Flip::kNone) {
  auto result = data::Image::black(width, height);
  data::resized_crop_into(image, box, width, height, flip, result.pixels);
  return result;
}

inline data::Image crop(data::ImageView image, const data::Box& box,
                        data::Flip flip = data::Flip::kNone) {
  auto result = data::Image::black(box.width, box.height);
  data::copy_crop(image, box, flip, result.pixels);
  return result;
}

inline data::Image flipped(const data::Image& image) {
  return crop(image, {0, 0, image.width, image.height}, data::Flip::kHorizontal);
}

}  // namespace proca::test
