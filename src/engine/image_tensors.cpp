#include "proca/engine/image_tensors.h"

#include <memory>

#include <torch/types.h>

namespace proca::engine {
namespace {

// A tensor that owns a vector's memory, without a copy.
template <typename T>
torch::Tensor adopt(std::vector<T> values, at::IntArrayRef shape) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  return torch::from_blob(
      owner->data(), shape, [owner](void*) {}, c10::CppTypeToScalarType<T>::value);
}

torch::Tensor per_channel(const std::array<double, 3>& values, torch::Device device) {
  // [1, 3, 1, 1], in units of pixel values: dividing by 255 is folded in.
  return torch::tensor({values[0] * 255, values[1] * 255, values[2] * 255},
                       torch::dtype(torch::kFloat32).device(device))
      .view({1, 3, 1, 1});
}

}  // namespace

torch::Tensor to_network_input(const torch::Tensor& pixels,
                               const data::Preprocessing& preprocessing, torch::Device device) {
  auto images = pixels.to(device).permute({0, 3, 1, 2}).to(torch::kFloat32);
  return images.sub_(per_channel(preprocessing.mean, device))
      .div_(per_channel(preprocessing.std, device));
}

TensorBatch to_tensors(data::PixelBatch batch, const data::Preprocessing& preprocessing,
                       torch::Device device) {
  const int64_t count = batch.size(), size = batch.image_size;
  const auto pixels = adopt(std::move(batch.pixels), {count, size, size, data::Image::kChannels});
  return {to_network_input(pixels, preprocessing, device),
          adopt(std::move(batch.labels), {count}).to(device),
          adopt(std::move(batch.indexes), {count})};
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

}  // namespace proca::engine
