#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "proca/data/image.h"

namespace proca::report {

/// The longest side of a small picture, in pixels.
inline constexpr int64_t kThumbnailSide = 96;

/// A small picture for a page that needs no files beside it: a JPEG as
/// `data:image/jpeg;base64,...`. Larger images are shrunk until no side is longer than
/// `kThumbnailSide`, smaller ones stay as they are.
///
/// Throws `std::invalid_argument` for an image without pixels.
std::string thumbnail_url(data::ImageView image);

/// Bytes as text in the alphabet of RFC 4648, padded.
std::string base64(std::span<const uint8_t> bytes);

}  // namespace proca::report
