#pragma once

#include <torch/types.h>

#include "proca/data/batch_loader.h"
#include "proca/data/preprocessing.h"

namespace proca::engine {

/// A batch as the network takes it.
struct TensorBatch {
  torch::Tensor images;   ///< float [N, 3, H, W], normalised, channels-last in memory
  torch::Tensor labels;   ///< int64 [N]
  torch::Tensor indexes;  ///< int64 [N], in the store; on the CPU
};

/// Moves the bytes to `device` and normalises them there. The pixels arrive in
/// channels-last order already, so nothing is transposed.
TensorBatch to_tensors(data::PixelBatch batch, const data::Preprocessing& preprocessing,
                       torch::Device device);

}  // namespace proca::engine
