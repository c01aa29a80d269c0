// What a build without CUDA has in place of the files in cuda/.

#include "c10d_ranks.h"
#include "device_memory.h"
#include "proca/engine/device.h"
#include "work_recorder.h"

namespace proca::engine {

int64_t free_device_memory(c10::Device /*device*/) { return 0; }

int64_t peak_device_bytes(c10::Device /*device*/) { return 0; }

// LibTorch may have CUDA all the same, where no CUDA compiler was found.
std::string gpu_name(c10::Device device) { return device.str(); }

std::unique_ptr<WorkRecorder> make_work_recorder(c10::Device /*device*/) { return nullptr; }

void leave_default_stream(c10::Device /*device*/) {}

c10::intrusive_ptr<C10dGroup> make_nccl_group(const c10::intrusive_ptr<c10d::Store>&, const Launch&,
                                              std::chrono::milliseconds) {
  return {};
}

}  // namespace proca::engine
