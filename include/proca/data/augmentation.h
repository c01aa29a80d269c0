#pragma once

#include <cstdint>
#include <span>

#include "proca/core/random.h"
#include "proca/data/crop.h"
#include "proca/data/image.h"

namespace proca::data {

/// Which part of a stored image the network sees.
enum class Crop {
  kCentre,         ///< the middle; the whole image if it has the right size already
  kRandom,         ///< anywhere, at the stored scale
  kRandomResized,  ///< a random part of 8 to 100 % of the area and an aspect ratio of 3/4 to 4/3,
                   ///< resized (torchvision's `RandomResizedCrop`)
};

/// From a stored image to the pixels of one training example. Every random
/// choice is made per image, from the stream it is given.
struct Augmentation {
  int64_t image_size = 224;
  Crop crop = Crop::kCentre;
  double flip_probability = 0;

  /// Writes image_size x image_size RGB pixels to `destination`. Throws
  /// `InputError` when the image is smaller than the crop (`kRandomResized`
  /// enlarges it instead).
  void apply(ImageView image, RandomStream& random, std::span<uint8_t> destination) const;
};

/// Bytes of one example: image_size * image_size * 3.
inline int64_t example_bytes(const Augmentation& augmentation) {
  return image_bytes(augmentation.image_size, augmentation.image_size);
}

}  // namespace proca::data
