#pragma once

#include <cstdint>
#include <vector>

namespace proca::data {

/// An 8-bit RGB picture: rows from top to bottom, three bytes (red, green, blue)
/// per pixel, no padding. Everything in this module works on these bytes; they
/// become tensors only when a batch reaches the network.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  ///< size = height * width * 3

  static constexpr int64_t kChannels = 3;

  /// A black image of the given size.
  static Image black(int64_t width, int64_t height) {
    return {width, height, std::vector<uint8_t>(static_cast<size_t>(width * height * kChannels))};
  }
};

}  // namespace proca::data
