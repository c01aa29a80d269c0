#include "report/images/thumbnails.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "data/codec/encode_jpeg.h"
#include "data/pixels/resize.h"

namespace proca::report {

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) {
      text += k <= left ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string thumbnail_url(data::ImageView image) {
  if (image.width <= 0 || image.height <= 0) {
    throw std::invalid_argument("thumbnail_url: an image without pixels");
  }
  data::Image small;
  const int64_t longest = std::max(image.width, image.height);
  if (longest > kThumbnailSide) {
    const auto shrunk = [&](int64_t side) {
      return std::max<int64_t>(1, side * kThumbnailSide / longest);
    };
    small = data::resize(image, shrunk(image.width), shrunk(image.height));
    image = small;
  }
  return "data:image/jpeg;base64," + base64(data::encode_jpeg(image));
}

}  // namespace proca::report
