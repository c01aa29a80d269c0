#include <ATen/cuda/CUDAContext.h>

#include "proca/compute/device.h"

namespace proca::compute {

std::string gpu_name(c10::Device device) {
  return at::cuda::getDeviceProperties(device.index())->name;
}

}  // namespace proca::compute
