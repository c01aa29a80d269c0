#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "proca/data/image_store.h"

namespace proca::training {

/// All images of a store as bytes in one tensor on a device, one after the other.
class ResidentImages {
 public:
  /// The position of an image, in pixels.
  struct Place {
    int64_t first = 0;  ///< its first pixel in `pixels()`
    int64_t width = 0;
    int64_t height = 0;
  };

  /// Copies the images, loaded by `threads` threads, through pinned memory. Null if they
  /// take more than `budget_bytes`.
  ///
  /// Throws what loading an image throws.
  static std::shared_ptr<const ResidentImages> load(const data::ImageStore& store,
                                                    torch::Device device, int64_t budget_bytes,
                                                    int64_t threads);

  /// uint8 [P, 3], on the device.
  const torch::Tensor& pixels() const { return pixels_; }
  const Place& place(int64_t index) const { return places_[static_cast<size_t>(index)]; }
  int64_t bytes() const { return pixels_.numel(); }
  torch::Device device() const { return pixels_.device(); }

 private:
  ResidentImages(std::vector<Place> places, torch::Tensor pixels)
      : places_(std::move(places)), pixels_(std::move(pixels)) {}

  std::vector<Place> places_;  // by index in the store
  torch::Tensor pixels_;
};

}  // namespace proca::training
