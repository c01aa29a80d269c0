// What the files in cuda/ do, in a build without CUDA.

#include "device_memory.h"
#include "work_recorder.h"

namespace proca::engine {

int64_t free_device_memory(c10::Device) { return 0; }

std::unique_ptr<WorkRecorder> make_work_recorder(c10::Device) { return nullptr; }

void leave_default_stream(c10::Device) {}

}  // namespace proca::engine
