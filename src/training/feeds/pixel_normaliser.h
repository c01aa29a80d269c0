#pragma once

#include <torch/types.h>

#include "proca/data/preprocessing.h"

namespace proca::training {

/// Turns pixels into network input, with the constants on the device from the start.
class PixelNormaliser {
 public:
  PixelNormaliser(const data::Preprocessing& preprocessing, torch::Device device);

  /// uint8 [N, H, W, 3] on the device -> float [N, 3, H, W], normalised, channels-last in
  /// memory.
  torch::Tensor operator()(const torch::Tensor& pixels) const;

  torch::Device device() const { return mean_.device(); }

 private:
  torch::Tensor mean_, std_;  // float [1, 3, 1, 1], of 0 to 255
};

}  // namespace proca::training
