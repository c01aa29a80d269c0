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

/// The part of an image that one training example shows: the box, resized to the size of the
/// example and possibly mirrored.
struct View {
  Box box;
  Flip flip = Flip::kNone;
};

/// Makes the pixels of one training example from a stored image. Random choices are made
/// per image, from the given stream.
struct Augmentation {
  int64_t image_size = 224;
  Crop crop = Crop::kCentre;
  double flip_probability = 0;

  /// Chooses the view of an image of this size. Throws `InputError` when the image is
  /// smaller than the crop (`kRandomResized` enlarges it instead).
  View choose(int64_t width, int64_t height, RandomStream& random) const;

  /// Chooses, and writes image_size x image_size RGB pixels to `destination`.
  void apply(ImageView image, RandomStream& random, std::span<uint8_t> destination) const;
};

/// The random stream for one image in one epoch; `image` is its index in the store.
inline RandomStream augmentation_stream(uint64_t seed, int64_t epoch, int64_t image) {
  return {seed, "augment", static_cast<uint64_t>(epoch), static_cast<uint64_t>(image)};
}

/// Bytes of one example: image_size * image_size * 3.
inline int64_t example_bytes(const Augmentation& augmentation) {
  return image_bytes(augmentation.image_size, augmentation.image_size);
}

}  // namespace proca::data
