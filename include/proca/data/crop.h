#pragma once

#include <cstdint>
#include <span>

#include "proca/data/image.h"

namespace proca::data {

/// A rectangle of whole pixels inside an image.
struct Box {
  int64_t left = 0;
  int64_t top = 0;
  int64_t width = 0;
  int64_t height = 0;
};

enum class Flip {
  kNone,
  kHorizontal,  ///< left and right are swapped
};

/// The rectangle as a view of the same pixels; nothing is copied.
///
/// Here and below, a box that is empty or reaches outside the image throws
/// `std::invalid_argument`.
ImageView crop_view(ImageView image, const Box& box);

/// The box of torchvision's `CenterCrop(size)` in an image of at least `size` in both
/// directions: left and top are `(side - size) / 2`, halves rounded to the even neighbour.
Box centre_box(int64_t width, int64_t height, int64_t size);

/// Copies a rectangle, mirrored or not, into `destination`, for example one slot
/// of a batch. Throws `std::invalid_argument` unless
/// `destination` has exactly `box.width * box.height * 3` bytes.
///
/// Example: image `i` of a batch of 224 x 224 pictures
/// ```
/// const int64_t bytes = image_bytes(224, 224);
/// copy_crop(store[i], {.left = 7, .top = 12, .width = 224, .height = 224},
///           Flip::kHorizontal, batch.subspan(i * bytes, bytes));
/// ```
void copy_crop(ImageView image, const Box& box, Flip flip, std::span<uint8_t> destination);

}  // namespace proca::data
