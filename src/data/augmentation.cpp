#include "proca/data/augmentation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/data/resize.h"

namespace proca::data {
namespace {

// torchvision's way of drawing the box: ten tries, then the largest centred
// box of an allowed aspect ratio.
Box random_resized_box(ImageView image, RandomStream& random) {
  constexpr double kMinRatio = 3.0 / 4.0, kMaxRatio = 4.0 / 3.0;
  const auto area = static_cast<double>(image.width * image.height);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.08, 1.0);
    const double ratio = std::exp(random.uniform(std::log(kMinRatio), std::log(kMaxRatio)));
    const auto width = static_cast<int64_t>(std::lround(std::sqrt(target * ratio)));
    const auto height = static_cast<int64_t>(std::lround(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
    return {random.uniform_int(image.width - width + 1),
            random.uniform_int(image.height - height + 1), width, height};
  }
  const double ratio = static_cast<double>(image.width) / static_cast<double>(image.height);
  int64_t width = image.width, height = image.height;
  if (ratio < kMinRatio) height = std::lround(static_cast<double>(width) / kMinRatio);
  if (ratio > kMaxRatio) width = std::lround(static_cast<double>(height) * kMaxRatio);
  return {(image.width - width) / 2, (image.height - height) / 2, width, height};
}

}  // namespace

void Augmentation::apply(ImageView image, RandomStream& random,
                         std::span<uint8_t> destination) const {
  const auto flip = random.uniform() < flip_probability ? Flip::kHorizontal : Flip::kNone;
  if (crop == Crop::kRandomResized) {
    const auto box = random_resized_box(image, random);
    return resized_crop_into(image, box, image_size, image_size, flip, destination);
  }
  if (image.width < image_size || image.height < image_size) {
    throw InputError(fmt::format("a crop of {0} x {0} pixels does not fit into {1} x {2}",
                                 image_size, image.width, image.height));
  }
  auto box = centre_box(image.width, image.height, image_size);
  if (crop == Crop::kRandom) {
    box.left = random.uniform_int(image.width - image_size + 1);
    box.top = random.uniform_int(image.height - image_size + 1);
  }
  copy_crop(image, box, flip, destination);
}

}  // namespace proca::data
