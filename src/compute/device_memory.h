#pragma once

#include <cstdint>

#include <c10/core/Device.h>

namespace proca::compute {

/// Bytes of a GPU's memory that nobody uses; 0 in a build without CUDA.
int64_t free_device_memory(c10::Device device);

}  // namespace proca::compute
