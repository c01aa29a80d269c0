#pragma once

#include <torch/types.h>

#include "data/loading/batch_loader.h"
#include "proca/data/preprocessing.h"

namespace proca::training {

/// A batch as network input.
struct TensorBatch {
  torch::Tensor images;   ///< float [N, 3, H, W], normalised, channels-last in memory
  torch::Tensor labels;   ///< int64 [N]
  torch::Tensor indexes;  ///< int64 [N], in the store
};

/// Moves a batch to `device`, without synchronisation, and normalises the pixels there.
/// They are in channels-last order already, so nothing is transposed.
TensorBatch to_tensors(data::PixelBatch batch, const data::Preprocessing& preprocessing,
                       torch::Device device);

/// Pixels, uint8 [N, H, W, 3] on any device, as network input:
/// float [N, 3, H, W] on `device`, normalised, channels-last in memory.
torch::Tensor to_network_input(const torch::Tensor& pixels,
                               const data::Preprocessing& preprocessing, torch::Device device);

/// Pixels of some images of a store as in evaluation, centre-cropped:
/// uint8 [n, H, W, 3] on the CPU.
torch::Tensor pixels_of(const data::ImageStore& store, const std::vector<int64_t>& indexes,
                        const data::Preprocessing& preprocessing);

}  // namespace proca::training
