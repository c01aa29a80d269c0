#include "compute/work_recorder.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

namespace proca::compute {
namespace {

// Other threads may go on copying and allocating while this one records.
void begin(at::cuda::CUDAGraph& graph, at::cuda::MempoolId_t pool) {
#if TORCH_VERSION_MAJOR >= 2
  graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
#else
  graph.capture_begin(pool);
#endif
}

using Pool = at::cuda::MempoolId_t;

class Graph final : public RecordedWork {
 public:
  explicit Graph(std::shared_ptr<Pool> its_pool) : pool(std::move(its_pool)) {}
  void repeat() override { graph.replay(); }
  std::shared_ptr<Pool> pool;
  at::cuda::CUDAGraph graph;
};

class GraphRecorder final : public WorkRecorder {
 public:
  explicit GraphRecorder(c10::Device device) : device_(device) {}

  std::unique_ptr<RecordedWork> record(const std::function<void()>& work) override {
    const c10::cuda::CUDAGuard guard(device_);
    // One pool for all: they never run at the same time, and none reads what another left.
    // It ends with the last of them.
    auto pool = pool_.lock();
    if (!pool) pool_ = pool = std::make_shared<Pool>(at::cuda::graph_pool_handle());
    auto recorded = std::make_unique<Graph>(std::move(pool));
    begin(recorded->graph, *recorded->pool);
    try {
      work();
    } catch (...) {
      end_quietly(recorded->graph);
      throw;
    }
    recorded->graph.capture_end();
    return recorded;
  }

 private:
  // What went wrong is already on its way; a broken recording cannot end well.
  static void end_quietly(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
      static_cast<void>(cudaGetLastError());  // Not to be reported again by the next call.
    }
  }

  c10::Device device_;
  std::weak_ptr<Pool> pool_;
};

}  // namespace

std::unique_ptr<WorkRecorder> make_work_recorder(c10::Device device) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  if (device.is_cuda()) return std::make_unique<GraphRecorder>(device);
#endif
  return nullptr;
}

void leave_default_stream(c10::Device device) {
  if (!device.is_cuda()) return;
  c10::cuda::set_device(device.index());
  // Once: memory that was used on one stream is kept for that one.
  if (c10::cuda::getCurrentCUDAStream(device.index()) !=
      c10::cuda::getDefaultCUDAStream(device.index())) {
    return;
  }
  c10::cuda::setCurrentCUDAStream(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()));
}

}  // namespace proca::compute
