#include "compute/cuda_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

namespace proca::compute {
namespace {

// Other threads may go on copying and allocating while this one captures.
void begin(at::cuda::CUDAGraph& graph, at::cuda::MempoolId_t pool) {
#if TORCH_VERSION_MAJOR >= 2
  graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
#else
  graph.capture_begin(pool);
#endif
}

using Pool = at::cuda::MempoolId_t;

class CapturedGraph final : public CudaGraph {
 public:
  explicit CapturedGraph(std::shared_ptr<Pool> shared_pool) : pool(std::move(shared_pool)) {}
  void replay() override { cuda_graph.replay(); }
  std::shared_ptr<Pool> pool;
  at::cuda::CUDAGraph cuda_graph;
};

class GraphCapturer final : public CudaGraphCapturer {
 public:
  explicit GraphCapturer(c10::Device device) : device_(device) {}

  std::unique_ptr<CudaGraph> capture(const std::function<void()>& work) override {
    const c10::cuda::CUDAGuard guard(device_);
    // Graphs share one memory pool: they run one at a time, and none reads what another left.
    // It is freed with the last graph.
    auto pool = pool_.lock();
    if (!pool) pool_ = pool = std::make_shared<Pool>(at::cuda::graph_pool_handle());
    auto graph = std::make_unique<CapturedGraph>(std::move(pool));
    begin(graph->cuda_graph, *graph->pool);
    try {
      work();
    } catch (...) {
      end_quietly(graph->cuda_graph);
      throw;
    }
    graph->cuda_graph.capture_end();
    return graph;
  }

 private:
  // The first error is already being thrown; ending a broken capture only adds another.
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

std::unique_ptr<CudaGraphCapturer> make_cuda_graph_capturer(c10::Device device) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  if (device.is_cuda()) return std::make_unique<GraphCapturer>(device);
#endif
  return nullptr;
}

void leave_default_stream(c10::Device device) {
  if (!device.is_cuda()) return;
  c10::cuda::set_device(device.index());
  // Once per thread: LibTorch caches memory by stream.
  if (c10::cuda::getCurrentCUDAStream(device.index()) !=
      c10::cuda::getDefaultCUDAStream(device.index())) {
    return;
  }
  c10::cuda::setCurrentCUDAStream(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()));
}

}  // namespace proca::compute
