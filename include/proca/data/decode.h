#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "proca/data/image.h"

namespace proca::data {

/// The largest picture a decoder accepts. The size in the file's header is checked
/// before memory is allocated for pixels, so a small file that claims to be an
/// enormous picture (a decompression bomb) costs nothing.
struct DecodeLimits {
  /// 100 megapixels are 300 MB of RGB: more than any camera picture a
  /// classifier is trained on, and little enough for one per thread to fit in
  /// memory. Pillow warns at 89 and refuses at 179 megapixels.
  int64_t max_pixels = 100'000'000;
  /// Longest allowed width or height; JPEG itself cannot go further.
  int64_t max_side = 65'535;
  /// Scans of a progressive JPEG. Each takes a pass over the whole picture, even if it
  /// holds hardly any data. Encoders use about ten.
  int64_t max_scans = 100;
};

/// Decodes a JPEG, PNG, WebP, TIFF, GIF or BMP picture. The format is recognised by the first
/// bytes; file names play no part.
///
/// The result has the bytes of Pillow's `Image.open(f).convert("RGB")`, because
/// that is what the published weights of most networks were trained on:
///
/// | file | becomes |
/// |---|---|
/// | JPEG grey, YCbCr, RGB | RGB; accurate DCT, smooth chroma upsampling |
/// | JPEG CMYK, YCCK | read as Adobe writes it (inverted), without a colour profile |
/// | PNG grey, 1 to 8 bits | scaled to 0..255 |
/// | PNG grey, 16 bits | the high byte of each sample (Pillow clips at 255) |
/// | PNG palette | its colours; an index beyond the palette is a grey of that level |
/// | PNG RGB, 16 bits | the high byte of each sample |
/// | anything with transparency | alpha is dropped, not composited |
/// | WebP | lossy or lossless, one frame |
/// | TIFF | the first picture; 16-bit samples scaled to 0..255, of grey the high byte |
/// | GIF | the first picture |
/// | BMP | 1 to 32 bits per pixel, not compressed |
///
/// The pixels are as they are stored; `Image::orientation` has what EXIF says of them. Colour
/// profiles and gamma are ignored.
///
/// `origin` names the picture in messages: usually its path. Throws `InputError`
/// when the bytes are empty, of an unknown format, truncated, damaged, or
/// claim a size beyond `limits`; when they are WebP, TIFF or GIF and the build cannot read that;
/// for animated WebP, run-length compressed BMP and TIFF with rare compressions. As in Pillow,
/// bytes after the picture, a missing end marker and damaged JPEG data that the decoder can skip
/// are no errors.
Image decode_image(std::span<const uint8_t> bytes, std::string_view origin,
                   const DecodeLimits& limits = {});

/// `decode_image` of a file, named by its path in messages.
///
/// Example:
/// ```
/// const Image image = resize(read_image("amazon/images/bike/frame_0001.jpg"), 224, 224);
/// ```
Image read_image(const std::filesystem::path& path, const DecodeLimits& limits = {});

}  // namespace proca::data
