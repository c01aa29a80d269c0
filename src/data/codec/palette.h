#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "proca/data/image.h"

namespace proca::data {

struct PaletteColour {
  uint8_t red = 0, green = 0, blue = 0;
};

/// The colours of indices. As in Pillow it is a ramp of greys whose first entries a file
/// replaces, so that an index beyond the file's palette is a grey of that level.
struct Palette {
  std::array<PaletteColour, 256> colours;

  Palette() {
    for (size_t i = 0; i < colours.size(); ++i) {
      const auto grey = static_cast<uint8_t>(i);
      colours[i] = {grey, grey, grey};
    }
  }

  /// Writes three bytes per index.
  void paint(std::span<const uint8_t> indices, uint8_t* rgb) const {
    for (const uint8_t index : indices) {
      *rgb++ = colours[index].red;
      *rgb++ = colours[index].green;
      *rgb++ = colours[index].blue;
    }
  }
};

}  // namespace proca::data
