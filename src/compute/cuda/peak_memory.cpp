#include <c10/cuda/CUDACachingAllocator.h>

#include "proca/compute/device.h"

namespace proca::compute {

int64_t peak_device_bytes(c10::Device device) {
  if (!device.is_cuda()) return 0;
  // The first of several statistics is that of all pools together. Its name has moved
  // between versions of LibTorch, its place has not.
  constexpr size_t kAllPools = 0;
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
  return stats.reserved_bytes[kAllPools].peak;
}

}  // namespace proca::compute
