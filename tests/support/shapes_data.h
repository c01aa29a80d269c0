#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "proca/core/random.h"
#include "proca/data/image.h"
#include "support/test_images.h"

namespace proca::test {

/// A picture of a class that a network learns in seconds: a bright bar (class 0
/// upright, class 1 level, class 2 a frame) on noise.
inline data::Image bar_image(int64_t label, int64_t index, int64_t size = 16) {
  RandomStream random(0, "bars", static_cast<uint64_t>(label), static_cast<uint64_t>(index));
  auto image = data::Image::black(size, size);
  const int64_t place = 3 + random.uniform_int(size - 6);
  for (int64_t y = 0; y < size; ++y) {
    for (int64_t x = 0; x < size; ++x) {
      const bool frame = x < 2 || y < 2 || x >= size - 2 || y >= size - 2;
      const bool bright = label == 0   ? std::abs(x - place) < 2
                          : label == 1 ? std::abs(y - place) < 2
                                       : frame;
      for (int64_t c = 0; c < 3; ++c) {
        image.pixels[static_cast<size_t>((y * size + x) * 3 + c)] =
            static_cast<uint8_t>((bright ? 180 : 20) + random.uniform_int(60));
      }
    }
  }
  return image;
}

/// folder/<class>/<index>.png for the classes `upright`, `level` and `frame`.
inline void write_bars(const std::filesystem::path& folder, int64_t per_class,
                       int64_t num_classes = 3) {
  const std::vector<std::string> names = {"upright", "level", "frame"};
  for (int64_t label = 0; label < num_classes; ++label) {
    for (int64_t i = 0; i < per_class; ++i) {
      write_png(folder / names[static_cast<size_t>(label)] / (std::to_string(i) + ".png"),
                bar_image(label, i));
    }
  }
}

}  // namespace proca::test
