#pragma once

// What decode.cpp and the decoders of the formats share.

#include <cstdint>
#include <span>
#include <string_view>

#include "proca/data/decode.h"

namespace proca::data {

/// What a decoder works on.
struct EncodedImage {
  std::span<const uint8_t> bytes;
  std::string_view origin;
  DecodeLimits limits;
};

/// The format of a file that begins with `start`: "JPEG", "PNG", "WebP", "GIF", "TIFF", "BMP";
/// empty for any other.
std::string_view image_format(std::string_view start);

/// Throws the `InputError` for a picture of the given format ("JPEG") that cannot be read.
[[noreturn]] void throw_undecodable(const EncodedImage& source, std::string_view format,
                                    std::string_view problem);

/// Throws `InputError` where a header claims a size that is not allowed.
void check_size(const EncodedImage& source, int64_t width, int64_t height);

/// Checks the size that a header claims, then allocates the pixels of `image`.
void set_size(const EncodedImage& source, int64_t width, int64_t height, Image& image);

/// Whether the first bytes are those of a format that `decode_image` knows.
bool begins_as_image(std::span<const uint8_t> bytes);

void decode_bmp(const EncodedImage& source, Image& image);
void decode_gif(const EncodedImage& source, Image& image);
void decode_jpeg(const EncodedImage& source, Image& image);
void decode_png(const EncodedImage& source, Image& image);
void decode_tiff(const EncodedImage& source, Image& image);
void decode_webp(const EncodedImage& source, Image& image);

}  // namespace proca::data
