#pragma once

// How the two domains of the demo data render a thing.

#include <cstdint>

#include "demo_path.h"
#include "proca/core/random.h"
#include "proca/data/image.h"

namespace proca::data {

/// Dark pen lines on white paper. `shape` is in the pixels of the picture.
Image render_sketch(const DemoShape& shape, int64_t size, RandomStream& random);

/// A shaded, coloured thing in front of clutter, as a cheap camera sees it.
Image render_photo(const DemoShape& shape, int64_t size, RandomStream& random);

}  // namespace proca::data
