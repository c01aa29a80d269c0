#include "proca/data/decode.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

#include "data/codec/decoders.h"

namespace proca::data {
namespace {

constexpr std::array<uint8_t, 3> kJpegStart = {0xff, 0xd8, 0xff};
constexpr std::array<uint8_t, 8> kPngStart = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<uint8_t, 4> kRiffStart = {'R', 'I', 'F', 'F'};
constexpr std::array<uint8_t, 4> kWebpKind = {'W', 'E', 'B', 'P'};
constexpr int64_t kWebpKindOffset = 8;  // After "RIFF" and the length of the file.

bool has_at(std::span<const uint8_t> bytes, int64_t offset, std::span<const uint8_t> expected) {
  const auto start = static_cast<size_t>(offset);
  return bytes.size() >= start + expected.size() &&
         std::equal(expected.begin(), expected.end(), bytes.begin() + offset);
}

}  // namespace

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

void decode_image_into(std::span<const uint8_t> bytes, std::string_view origin, Image& image,
                       const DecodeLimits& limits) {
  const EncodedImage source{bytes, origin, limits};
  if (bytes.empty()) throw InputError(fmt::format("{}: is empty, not an image", origin));
  if (has_at(bytes, 0, kJpegStart)) return decode_jpeg(source, image);
  if (has_at(bytes, 0, kPngStart)) return decode_png(source, image);
  if (has_at(bytes, 0, kRiffStart) && has_at(bytes, kWebpKindOffset, kWebpKind)) {
    return decode_webp(source, image);
  }
  throw InputError(
      fmt::format("{}: is not an image of a known format (JPEG, PNG or WebP)", origin));
}

Image decode_image(std::span<const uint8_t> bytes, std::string_view origin,
                   const DecodeLimits& limits) {
  Image image;
  decode_image_into(bytes, origin, image, limits);
  return image;
}

void read_image_into(const std::filesystem::path& path, Image& image, const DecodeLimits& limits) {
  const MappedFile file(path);
  decode_image_into(file.bytes(), path.string(), image, limits);
}

Image read_image(const std::filesystem::path& path, const DecodeLimits& limits) {
  Image image;
  read_image_into(path, image, limits);
  return image;
}

}  // namespace proca::data
