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
  kHorizontal,  ///< left and right change places
};

/// The rectangle as a view into the same pixels; nothing is copied.
///
/// Here and below, a box that is empty or reaches outside the image is a
/// mistake of the caller: `std::invalid_argument`.
ImageView crop_view(ImageView image, const Box& box);

/// The rectangle as an image of its own.
Image crop(ImageView image, int64_t left, int64_t top, int64_t width, int64_t height);

/// Where `centre_crop` cuts: `size` x `size` pixels whose left and top edges are
/// `(side - size) / 2`, halves rounded to the even neighbour as torchvision does
/// (an odd pixel left over falls to one side or the other depending on the size).
/// The image must be at least `size` in both directions.
Box centre_box(int64_t width, int64_t height, int64_t size);

/// torchvision's `CenterCrop(size)`. An image that is too small is first padded
/// with black on both sides, the odd row or column going to the right and bottom.
Image centre_crop(ImageView image, int64_t size);

/// The mirror image.
Image flip_horizontally(ImageView image);

/// Copies a rectangle, mirrored or not, into `destination`, for filling a batch
/// without an image in between. Throws `std::invalid_argument` unless
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
