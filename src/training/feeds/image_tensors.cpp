#include "training/feeds/image_tensors.h"

#include <torch/types.h>

#include "models/weights/device_copy.h"
#include "training/feeds/adopted_tensor.h"
#include "training/feeds/pixel_normaliser.h"

namespace proca::training {

torch::Tensor to_network_input(const torch::Tensor& pixels,
                               const data::Preprocessing& preprocessing, torch::Device device) {
  return PixelNormaliser(preprocessing, device)(models::copy_to(pixels, device));
}

TensorBatch to_tensors(data::PixelBatch batch, const data::Preprocessing& preprocessing,
                       torch::Device device) {
  const int64_t count = batch.size(), size = batch.image_size;
  const auto pixels = adopt(std::move(batch.pixels), {count, size, size, data::Image::kChannels});
  return {to_network_input(pixels, preprocessing, device),
          models::copy_to(adopt(std::move(batch.labels), {count}), device),
          models::copy_to(adopt(std::move(batch.indexes), {count}), device)};
}

torch::Tensor pixels_of(const data::ImageStore& store, const std::vector<int64_t>& indexes,
                        const data::Preprocessing& preprocessing) {
  const auto augmentation = preprocessing.centre_crop();
  const int64_t size = augmentation.image_size, bytes = data::example_bytes(augmentation);
  std::vector<uint8_t> pixels(indexes.size() * static_cast<size_t>(bytes));
  RandomStream unused(0, "centre crop");
  data::Image scratch;
  for (size_t i = 0; i < indexes.size(); ++i) {
    augmentation.apply(
        store.load(indexes[i], scratch), unused,
        std::span(pixels).subspan(i * static_cast<size_t>(bytes), static_cast<size_t>(bytes)));
  }
  return adopt(std::move(pixels),
               {static_cast<int64_t>(indexes.size()), size, size, data::Image::kChannels});
}

}  // namespace proca::training
