#include "proca/data/decode.h"

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

#include "data/codec/decoders.h"
#include "data/codec/exif.h"

namespace proca::data {
namespace {

constexpr std::string_view kJpegStart = "\xff\xd8\xff";
constexpr std::string_view kPngStart = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kWebpStart = "RIFF";
constexpr std::string_view kWebpKind = "WEBP";
constexpr size_t kWebpKindOffset = 8;  // after "RIFF" and the length of the file
constexpr std::string_view kBmpStart = "BM";

bool is_tiff(std::string_view text) {
  for (const auto* start : {"II*\0", "MM\0*", "II+\0", "MM\0+"}) {  // "+": more than 4 GB
    if (text.starts_with(std::string_view(start, 4))) return true;
  }
  return false;
}

bool is_webp(std::string_view text) {
  return text.starts_with(kWebpStart) && text.size() > kWebpKindOffset &&
         text.substr(kWebpKindOffset).starts_with(kWebpKind);
}

}  // namespace

std::string_view image_format(std::string_view start) {
  if (start.starts_with(kJpegStart)) return "JPEG";
  if (start.starts_with(kPngStart)) return "PNG";
  if (is_webp(start)) return "WebP";
  if (start.starts_with("GIF87a") || start.starts_with("GIF89a")) return "GIF";
  if (is_tiff(start)) return "TIFF";
  if (start.starts_with(kBmpStart)) return "BMP";
  return "";
}

void throw_undecodable(const EncodedImage& source, std::string_view format,
                       std::string_view problem) {
  throw InputError(
      fmt::format("{}: cannot be decoded as a {} image: {}", source.origin, format, problem));
}

void check_size(const EncodedImage& source, int64_t width, int64_t height) {
  const auto& limits = source.limits;
  if (width <= 0 || height <= 0) {
    throw InputError(
        fmt::format("{}: the image is empty: {} x {} pixels", source.origin, width, height));
  }
  if (width > limits.max_side || height > limits.max_side) {
    throw InputError(
        fmt::format("{}: the image claims {} x {} pixels; the longest allowed side is {}",
                    source.origin, width, height, limits.max_side));
  }
  if (width * height > limits.max_pixels) {
    throw InputError(fmt::format("{}: the image claims {} x {} pixels; at most {} are allowed",
                                 source.origin, width, height, limits.max_pixels));
  }
}

void set_size(const EncodedImage& source, int64_t width, int64_t height, Image& image) {
  check_size(source, width, height);
  image.width = width;
  image.height = height;
  image.pixels.resize(static_cast<size_t>(image_bytes(width, height)));
}

bool begins_as_image(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return !image_format(text).empty();
}

Image decode_image(std::span<const uint8_t> bytes, std::string_view origin,
                   const DecodeLimits& limits) {
  const EncodedImage source{bytes, origin, limits};
  if (bytes.empty()) throw InputError(fmt::format("{}: is empty, not an image", origin));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto format = image_format(text);
  Image image;
  if (format == "JPEG") {
    decode_jpeg(source, image);
    image.orientation = jpeg_orientation(bytes);
  } else if (format == "PNG") {
    decode_png(source, image);
    image.orientation = png_orientation(bytes);
  } else if (format == "WebP") {
    decode_webp(source, image);
    image.orientation = webp_orientation(bytes);
  } else if (format == "GIF") {
    decode_gif(source, image);
  } else if (format == "TIFF") {
    decode_tiff(source, image);
  } else if (format == "BMP") {
    decode_bmp(source, image);
  } else {
    throw InputError(fmt::format(
        "{}: is not an image of a known format (JPEG, PNG, WebP, TIFF, GIF or BMP)", origin));
  }
  return image;
}

Image read_image(const std::filesystem::path& path, const DecodeLimits& limits) {
  const MappedFile file(path);
  return decode_image(file.bytes(), path.string(), limits);
}

}  // namespace proca::data
