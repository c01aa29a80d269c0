// In place of cuda/ in a build without CUDA.

#include "compute/cuda_graph.h"
#include "compute/device_memory.h"
#include "proca/compute/device.h"

namespace proca::compute {

int64_t free_device_memory(c10::Device /*device*/) { return 0; }

int64_t peak_device_bytes(c10::Device /*device*/) { return 0; }

// LibTorch may have CUDA all the same, where no CUDA compiler was found.
std::string gpu_name(c10::Device device) { return device.str(); }

std::unique_ptr<CudaGraphCapturer> make_cuda_graph_capturer(c10::Device /*device*/) {
  return nullptr;
}

void leave_default_stream(c10::Device /*device*/) {}

}  // namespace proca::compute
