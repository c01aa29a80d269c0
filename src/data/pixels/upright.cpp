#include <cstring>

#include "proca/data/image.h"

namespace proca::data {
namespace {

struct PixelPlace {
  int64_t x = 0, y = 0;
};

// Where the pixel at (x, y) of the upright picture lies in `stored`.
PixelPlace stored_place(const Image& stored, int64_t x, int64_t y) {
  const int64_t right = stored.width - 1, bottom = stored.height - 1;
  switch (stored.orientation) {
    case 2:
      return {right - x, y};
    case 3:
      return {right - x, bottom - y};
    case 4:
      return {x, bottom - y};
    case 5:
      return {y, x};
    case 6:
      return {y, bottom - x};
    case 7:
      return {right - y, bottom - x};
    case 8:
      return {right - y, x};
    default:
      return {x, y};
  }
}

}  // namespace

Image upright(Image image) {
  if (image.orientation <= 1 || image.orientation > 8) return image;
  const bool lies = image.orientation >= 5;
  auto turned = Image::black(lies ? image.height : image.width, lies ? image.width : image.height);
  uint8_t* pixel = turned.pixels.data();
  for (int64_t y = 0; y < turned.height; ++y) {
    for (int64_t x = 0; x < turned.width; ++x, pixel += Image::kChannels) {
      const auto [from_x, from_y] = stored_place(image, x, y);
      std::memcpy(pixel, image.pixels.data() + (from_y * image.width + from_x) * Image::kChannels,
                  Image::kChannels);
    }
  }
  return turned;
}

}  // namespace proca::data
