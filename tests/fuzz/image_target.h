#pragma once

#include "fuzz_input.h"
#include "proca/data/decode.h"

namespace proca::fuzz {

/// Decodes a picture. The limits are those of a small one, so that pictures which are
/// large but right do not take all the time.
inline void decode_any(std::span<const uint8_t> bytes) {
  refuse_or([&] {
    const data::DecodeLimits limits{.max_pixels = 1 << 20, .max_side = 1 << 14};
    const auto image = data::decode_image(bytes, "input", limits);
    require(image.width > 0 && image.height > 0, "no picture is empty");
    require(image.width <= limits.max_side && image.height <= limits.max_side &&
                image.width * image.height <= limits.max_pixels,
            "no picture is beyond the limits");
    require(
        static_cast<int64_t>(image.pixels.size()) == data::image_bytes(image.width, image.height),
        "three bytes per pixel");
  });
}

}  // namespace proca::fuzz
