// Stands in for src/models/cuda/ in a build without CUDA.

#include "batch_norm_kernels.h"
#include "max_pool.h"

namespace proca::models {

const BatchNormKernels* cuda_batch_norm_kernels() { return nullptr; }

const MaxPoolKernels* cuda_max_pool_kernels() { return nullptr; }

}  // namespace proca::models
