#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace proca::data {

/// An 8-bit RGB picture: rows from top to bottom, three bytes (red, green, blue)
/// per pixel, no padding. Everything in this module works on these bytes; they
/// become tensors only when a batch reaches the network.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  ///< size = height * width * 3
  /// How the camera was held, as EXIF numbers it: 1 (pixels as they are) to 8. `upright` turns
  /// the pixels accordingly.
  uint8_t orientation = 1;

  static constexpr int64_t kChannels = 3;

  /// A black image of the given size.
  static Image black(int64_t width, int64_t height) {
    return {.width = width,
            .height = height,
            .pixels = std::vector<uint8_t>(static_cast<size_t>(width * height * kChannels))};
  }
};

/// The picture as it was seen: mirrored and turned by quarters as its orientation says, which is
/// 1 afterwards.
Image upright(Image image);

/// Refers to pixels that something else owns: an `Image`, a slice of a packed file, a
/// rectangle of either. It is passed by value and must not outlive the pixels.
///
/// There may be gaps between rows: row `y` begins `y * row_stride` bytes after the first
/// one. So `crop_view` (data/crop.h) need not copy a rectangle.
///
/// Example:
/// ```
/// const Image image = read_image("cat.jpg");
/// const Image small = resize(image, 224, 224);  // an Image converts implicitly
/// ```
struct ImageView {
  const uint8_t* pixels = nullptr;  ///< first byte of the top row
  int64_t width = 0;
  int64_t height = 0;
  int64_t row_stride = 0;  ///< bytes from one row to the next

  ImageView() = default;

  ImageView(const Image& image) : ImageView(image.pixels, image.width, image.height) {}

  /// Views rows without gaps. Throws `std::invalid_argument` unless `bytes`
  /// holds exactly `width * height` pixels.
  ImageView(std::span<const uint8_t> bytes, int64_t width, int64_t height)
      : ImageView(bytes.data(), width, height, width * Image::kChannels) {
    if (width < 0 || height < 0 ||
        static_cast<int64_t>(bytes.size()) != width * height * Image::kChannels) {
      throw std::invalid_argument("ImageView: the bytes do not match the size");
    }
  }

  ImageView(const uint8_t* pixels, int64_t width, int64_t height, int64_t row_stride)
      : pixels(pixels), width(width), height(height), row_stride(row_stride) {}

  const uint8_t* row(int64_t y) const { return pixels + y * row_stride; }
};

/// Bytes that an image of this size occupies.
inline int64_t image_bytes(int64_t width, int64_t height) {
  return width * height * Image::kChannels;
}

}  // namespace proca::data
