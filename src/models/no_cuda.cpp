// Stands in for src/models/cuda/ in a build without CUDA.

#include "batch_norm_kernels.h"

namespace proca::models {

const BatchNormKernels* cuda_batch_norm_kernels() { return nullptr; }

}  // namespace proca::models
