#pragma once

#include <cstdint>

#include <c10/core/Device.h>

namespace proca::compute {

/// Free memory of a GPU in bytes; 0 in a build without CUDA.
int64_t free_device_memory(c10::Device device);

}  // namespace proca::compute
