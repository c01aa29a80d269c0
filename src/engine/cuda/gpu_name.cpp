#include <ATen/cuda/CUDAContext.h>

#include "proca/engine/device.h"

namespace proca::engine {

std::string gpu_name(c10::Device device) {
  return at::cuda::getDeviceProperties(device.index())->name;
}

}  // namespace proca::engine
