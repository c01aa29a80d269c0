#pragma once

#include <cstdint>
#include <span>

#include "proca/data/crop.h"
#include "proca/data/image.h"

namespace proca::data {

/// Resizes with an antialiased triangle filter, bit for bit as Pillow's
/// `image.resize((width, height), Image.BILINEAR)`.
///
/// Along one axis with `scale = in / out`, output pixel `i` lies over the source
/// at `c = (i + 0.5) * scale` and is the weighted mean of the pixels `x` with
///
///     weight(x) = max(0, 1 - |x + 0.5 - c| / max(scale, 1)),
///
/// so that shrinking averages every source pixel instead of skipping most. The
/// weights are normalised to sum 1 and rounded to multiples of 2^-22. The width
/// is resized first, with results rounded to 8 bits, then the height; an axis whose
/// length does not change is copied.
///
/// Any size from 1 pixel upwards may become any other. Throws
/// `std::invalid_argument` when either image is empty. Uses AVX2 where the
/// processor has it, with the same result.
Image resize(ImageView source, int64_t width, int64_t height);

/// torchvision's `Resize(size)`: the shorter side becomes `size`, the longer one
/// `size * longer / shorter` rounded down. Throws `InputError` when a thin image
/// would grow to more than 100 megapixels.
Image resize_shorter_side(ImageView source, int64_t size);

/// torchvision's `resized_crop`, the second half of `RandomResizedCrop`, mirrored or not:
/// crops the box, then resizes it. Pixels outside the box have no influence (in
/// Pillow's own `resize(..., box=...)` those next to it do).
///
/// Writes to memory of the caller, for example one slot of a batch, which must not
/// overlap the source. Throws `std::invalid_argument` unless the box is inside the image
/// and `destination` has `width * height * 3` bytes.
void resized_crop_into(ImageView source, const Box& box, int64_t width, int64_t height, Flip flip,
                       std::span<uint8_t> destination);

}  // namespace proca::data
