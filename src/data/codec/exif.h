#pragma once

#include <cstdint>
#include <span>

namespace proca::data {

/// How the camera was held, by EXIF: 1 to 8, and 1 (pixels as they are) where a file does not
/// say or what it says is damaged. The bytes are a whole file of the format; no memory is
/// allocated.
uint8_t jpeg_orientation(std::span<const uint8_t> bytes);
uint8_t png_orientation(std::span<const uint8_t> bytes);
uint8_t webp_orientation(std::span<const uint8_t> bytes);

/// The same of an EXIF block, which is a small TIFF file.
uint8_t exif_orientation(std::span<const uint8_t> block);

}  // namespace proca::data
