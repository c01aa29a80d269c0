#pragma once

// How the two domains of the demo data render a thing.

#include <cstdint>

#include "demo/demo_path.h"
#include "proca/core/random.h"
#include "proca/data/image.h"

namespace proca::demo {

/// Dark pen lines on white paper. `shape` is in the pixels of the picture.
data::Image render_sketch(const Shape& shape, int64_t size, RandomStream& random);

/// A shaded, coloured thing in front of clutter, as a cheap camera sees it.
data::Image render_photo(const Shape& shape, int64_t size, RandomStream& random);

}  // namespace proca::demo
