#include "training/feeds/pixel_normaliser.h"

#include "models/weights/device_copy.h"

namespace proca::training {

PixelNormaliser::PixelNormaliser(const data::Preprocessing& preprocessing, torch::Device device) {
  const auto constants = models::staging({2, 3}, torch::kFloat32, device);
  auto* values = constants.data_ptr<float>();
  // Dividing by 255 is folded in.
  for (const double mean : preprocessing.mean) *values++ = static_cast<float>(mean * 255);
  for (const double spread : preprocessing.std) *values++ = static_cast<float>(spread * 255);
  const auto there = models::copy_to(constants, device).view({2, 1, 3, 1, 1});
  mean_ = there[0];
  std_ = there[1];
}

torch::Tensor PixelNormaliser::operator()(const torch::Tensor& pixels) const {
  return pixels.permute({0, 3, 1, 2}).to(torch::kFloat32).sub_(mean_).div_(std_);
}

}  // namespace proca::training
