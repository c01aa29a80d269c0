#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proca/data/image_source.h"
#include "proca/data/image_store.h"

namespace proca::data {

/// What `proca data verify` found.
struct VerifyReport {
  int64_t num_images = 0;
  std::vector<SkippedImage> bad;                     ///< in the order of the source
  std::vector<std::vector<std::string>> duplicates;  ///< groups of images with equal pixels
  int64_t min_width = 0, max_width = 0, min_height = 0, max_height = 0;  ///< of the good ones
};

/// Decodes every image, on `threads` threads. Two images are duplicates when
/// they have the same size and the same pixels, even if their files differ.
VerifyReport verify_images(const ImageSource& source, int64_t threads);

}  // namespace proca::data
