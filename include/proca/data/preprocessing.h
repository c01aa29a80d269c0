#pragma once

#include <array>
#include <cstdint>

#include "proca/data/augmentation.h"
#include "proca/data/image_store.h"

namespace proca::data {

/// How an image becomes the network's input at inference: turn upright, resize, centre crop, scale
/// to [0, 1], subtract `mean`, divide by `std`. It is part of a model and saved with it.
struct Preprocessing {
  int64_t image_size = 224;  ///< what the network sees is image_size x image_size
  /// Resize before the crop; size 0 means `image_size`, so that by default
  /// the whole image is resized to exactly image_size x image_size.
  ResizeOptions resize{.mode = ResizeOptions::Mode::kExact, .size = 0};
  std::array<double, 3> mean = {0.485, 0.456, 0.406};  ///< red, green, blue; ImageNet's
  std::array<double, 3> std = {0.229, 0.224, 0.225};

  ResizeOptions resolved_resize() const {
    return {resize.mode, resize.size > 0 ? resize.size : image_size, resize.orientation};
  }
  Augmentation centre_crop() const { return {.image_size = image_size}; }

  /// Throws `InvalidOption` when the resize is smaller than the crop.
  void validate() const;
};

}  // namespace proca::data
