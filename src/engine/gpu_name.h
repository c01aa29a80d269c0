#pragma once

#include <string>

#include <c10/core/Device.h>

namespace proca::engine {

/// The model of a GPU, as its driver has it. Must not be asked in a build without CUDA.
std::string gpu_name(c10::Device device);

}  // namespace proca::engine
