// In place of cuda/ in a build without CUDA.

#include "kernels/batch_norm_kernels.h"

namespace proca::kernels {

const BatchNormKernels* cuda_batch_norm_kernels() { return nullptr; }

}  // namespace proca::kernels
