#include "proca/data/augmentation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "data/pixels/resize.h"
#include "proca/core/error.h"

namespace proca::data {
namespace {

// Draws the box as torchvision does: ten tries, then the largest centred box of an
// allowed aspect ratio.
Box random_resized_box(int64_t image_width, int64_t image_height, RandomStream& random) {
  constexpr double kMinRatio = 3.0 / 4.0, kMaxRatio = 4.0 / 3.0;
  const auto area = static_cast<double>(image_width * image_height);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.08, 1.0);
    const double ratio = std::exp(random.uniform(std::log(kMinRatio), std::log(kMaxRatio)));
    const auto width = static_cast<int64_t>(std::lround(std::sqrt(target * ratio)));
    const auto height = static_cast<int64_t>(std::lround(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > image_width || height > image_height) continue;
    return {random.uniform_int(image_width - width + 1),
            random.uniform_int(image_height - height + 1), width, height};
  }
  const double ratio = static_cast<double>(image_width) / static_cast<double>(image_height);
  int64_t width = image_width, height = image_height;
  if (ratio < kMinRatio) height = std::lround(static_cast<double>(width) / kMinRatio);
  if (ratio > kMaxRatio) width = std::lround(static_cast<double>(height) * kMaxRatio);
  return {(image_width - width) / 2, (image_height - height) / 2, width, height};
}

}  // namespace

View Augmentation::choose(int64_t width, int64_t height, RandomStream& random) const {
  // The order of the draws must not change: results depend on it.
  const auto flip = random.uniform() < flip_probability ? Flip::kHorizontal : Flip::kNone;
  if (crop == Crop::kRandomResized) return {random_resized_box(width, height, random), flip};
  if (width < image_size || height < image_size) {
    throw InputError(fmt::format("a crop of {0} x {0} pixels does not fit into {1} x {2}",
                                 image_size, width, height));
  }
  auto box = centre_box(width, height, image_size);
  if (crop == Crop::kRandom) {
    box.left = random.uniform_int(width - image_size + 1);
    box.top = random.uniform_int(height - image_size + 1);
  }
  return {box, flip};
}

void Augmentation::apply(ImageView image, RandomStream& random,
                         std::span<uint8_t> destination) const {
  const auto [box, flip] = choose(image.width, image.height, random);
  resized_crop_into(image, box, image_size, image_size, flip, destination);
}

}  // namespace proca::data
