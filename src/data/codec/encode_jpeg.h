#pragma once

#include <cstdint>
#include <vector>

#include "proca/data/image.h"

namespace proca::data {

/// Encodes an image as a JPEG file. `quality` is libjpeg's, 1 to 100. Throws
/// `std::invalid_argument` for an image without pixels.
std::vector<uint8_t> encode_jpeg(ImageView image, int quality = 80);

}  // namespace proca::data
