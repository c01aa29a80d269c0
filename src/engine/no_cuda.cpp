// What a build without CUDA has in place of the files in cuda/.

#include <c10/util/Exception.h>

#include "proca/engine/device.h"

namespace proca::engine {

std::string gpu_name(c10::Device device) {
  TORCH_CHECK(false, "this build knows no GPU, and none was asked for: ", device);
}

int64_t peak_device_bytes(c10::Device /*device*/) { return 0; }

}  // namespace proca::engine
