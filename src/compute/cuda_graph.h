#pragma once

#include <functional>
#include <memory>

#include <c10/core/Device.h>

namespace proca::compute {

/// A CUDA graph: the kernels of some work on a GPU, launched by one call of the host instead
/// of thousands.
class CudaGraph {
 public:
  virtual ~CudaGraph() = default;
  /// Repeats the work on what the tensors it reads hold now. Does not wait for its end.
  virtual void replay() = 0;
};

class CudaGraphCapturer {
 public:
  virtual ~CudaGraphCapturer() = default;
  /// Captures what `work` launches, without running it. Tensors that the work reads and did
  /// not create itself must live as long as the graph. Throws when `work` does what cannot
  /// be captured, such as waiting for the device.
  virtual std::unique_ptr<CudaGraph> capture(const std::function<void()>& work) = 0;
};

/// Null where nothing can be captured: on a CPU, in a build without CUDA, and before
/// LibTorch 2.4, whose optimisers cannot change a captured learning rate.
std::unique_ptr<CudaGraphCapturer> make_cuda_graph_capturer(c10::Device device);

/// Moves the calling thread to a stream of its own: the default stream cannot be captured.
/// Nothing on a CPU.
void leave_default_stream(c10::Device device);

}  // namespace proca::compute
