// Stands in for src/models/cuda/ in a build without CUDA.

#include "kernels/batch_norm_kernels.h"
#include "kernels/max_pool.h"

namespace proca::kernels {

const BatchNormKernels* cuda_batch_norm_kernels() { return nullptr; }

const MaxPoolKernels* cuda_max_pool_kernels() { return nullptr; }

}  // namespace proca::kernels
