#pragma once

#include <torch/types.h>

namespace proca::training {

/// Boxes of images that lie one behind the other in `pixels`, all on one device.
struct PixelBoxes {
  torch::Tensor pixels;  ///< uint8 [P, 3]
  torch::Tensor first;   ///< int64 [N]: pixel in the box's top left corner
  torch::Tensor stride;  ///< int64 [N]: pixels from one row to the next
  torch::Tensor width;   ///< int64 [N]
  torch::Tensor height;  ///< int64 [N]
  torch::Tensor flip;    ///< int64 [N]: 1 for boxes to be mirrored, else 0
};

/// The boxes, which are all `size` x `size`, as they are: uint8 [N, size, size, 3].
torch::Tensor cut_boxes(const PixelBoxes& boxes, int64_t size);

/// The boxes resized as `data::resize` does it, level for level: uint8 [N, size, size, 3].
/// No box is larger than `max_width` x `max_height`.
///
/// Two products of matrices, columns and then rows. In doubles: 22 bits of weight and 8 of
/// pixel are more than a float holds, and a sum that is a level and a half is not rare.
torch::Tensor resize_boxes(const PixelBoxes& boxes, int64_t size, int64_t max_width,
                           int64_t max_height);

}  // namespace proca::training
