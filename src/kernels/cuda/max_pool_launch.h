#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/cuda/element_type.h"

// What max_pool.cu offers to max_pool.cpp.

namespace proca::kernels::cuda {

/// [images, height, width, channels] -> [images, (height + 1) / 2, (width + 1) / 2, channels].
struct MaxPool {
  ElementType type = ElementType::kFloat;
  int images = 0, height = 0, width = 0, channels = 0;
  int output_height = 0, output_width = 0;
};

void launch_max_pool(const MaxPool& shape, const void* values, void* output, uint8_t* winners,
                     cudaStream_t stream);
void launch_max_pool_backward(const MaxPool& shape, const void* output_gradient,
                              const uint8_t* winners, void* gradient, cudaStream_t stream);

}  // namespace proca::kernels::cuda
