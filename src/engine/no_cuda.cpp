// What a build without CUDA has in place of the files in cuda/.

#include <c10/util/Exception.h>

#include "device_memory.h"
#include "proca/engine/device.h"
#include "work_recorder.h"

namespace proca::engine {

int64_t free_device_memory(c10::Device /*device*/) { return 0; }

int64_t peak_device_bytes(c10::Device /*device*/) { return 0; }

std::string gpu_name(c10::Device device) {
  TORCH_CHECK(false, "this build knows no GPU, and none was asked for: ", device);
}

std::unique_ptr<WorkRecorder> make_work_recorder(c10::Device /*device*/) { return nullptr; }

void leave_default_stream(c10::Device /*device*/) {}

}  // namespace proca::engine
