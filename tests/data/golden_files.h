#pragma once

// Access to what golden/make_images.py wrote.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proca/core/file.h"
#include "proca/data/image.h"

namespace proca::test {

inline std::filesystem::path golden_folder() { return PROCA_TEST_DATA; }

inline std::vector<uint8_t> golden_bytes(const std::filesystem::path& path) {
  const MappedFile file(path);
  return {file.bytes().begin(), file.bytes().end()};
}

/// Every encoded image, in a fixed order.
inline std::vector<std::filesystem::path> golden_images() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder() / "images")) {
    if (entry.path().extension() != ".rgb") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The source pixels of the transforms: `pattern` in the script.
inline data::Image pattern_image(int64_t width, int64_t height) {
  data::Image image = data::Image::black(width, height);
  uint32_t value = 0;
  for (uint8_t& byte : image.pixels) {
    byte = static_cast<uint8_t>(value >> 24);
    value += 2654435761u;
  }
  return image;
}

}  // namespace proca::test
