#pragma once

#include <torch/types.h>

namespace proca::training {

/// Boxes of images that lie one after the other in `pixels`, all on one device.
struct PixelBoxes {
  torch::Tensor pixels;  ///< uint8 [P, 3]
  torch::Tensor first;   ///< int64 [N]: pixel in the box's top left corner
  torch::Tensor stride;  ///< int64 [N]: pixels from one row to the next
  torch::Tensor width;   ///< int64 [N]
  torch::Tensor height;  ///< int64 [N]
  torch::Tensor flip;    ///< int64 [N]: 1 for boxes to be mirrored, else 0
};

/// The pixels of boxes that all are `size` x `size`: uint8 [N, size, size, 3].
torch::Tensor cut_boxes(const PixelBoxes& boxes, int64_t size);

/// The boxes resized with the same result as `data::resize`: uint8 [N, size, size, 3].
/// No box is larger than `max_width` x `max_height`.
///
/// Two matrix products, columns and then rows. In double: 22 bits of weight and 8 of pixel
/// are more than a float holds, and sums halfway between two levels are not rare.
torch::Tensor resize_boxes(const PixelBoxes& boxes, int64_t size, int64_t max_width,
                           int64_t max_height);

}  // namespace proca::training
