#pragma once

#include <functional>
#include <memory>

#include <c10/core/Device.h>

namespace proca::compute {

/// Work on a GPU as a list of kernels with their memory. To repeat it the host makes one
/// call, where the work itself took thousands.
class RecordedWork {
 public:
  virtual ~RecordedWork() = default;
  /// Does it again, on whatever the tensors it reads hold now. Does not wait for the end.
  virtual void repeat() = 0;
};

class WorkRecorder {
 public:
  virtual ~WorkRecorder() = default;
  /// Records what `work` would do, without doing it. Tensors that the work reads and did
  /// not make itself must live as long as the result. Throws when `work` does what cannot
  /// be recorded, such as waiting for the device.
  virtual std::unique_ptr<RecordedWork> record(const std::function<void()>& work) = 0;
};

/// Null where nothing can be recorded: on a CPU, in a build without CUDA, and with a
/// LibTorch whose optimisers cannot be told another learning rate afterwards.
std::unique_ptr<WorkRecorder> make_work_recorder(c10::Device device);

/// From here on this thread works on a stream of its own: what is on the device's default
/// stream cannot be recorded. Nothing on a CPU.
void leave_default_stream(c10::Device device);

}  // namespace proca::compute
