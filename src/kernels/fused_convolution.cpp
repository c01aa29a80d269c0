#include "kernels/fused_convolution.h"

#include <mutex>
#include <set>
#include <vector>

#include <ATen/ops/cudnn_convolution_add_relu.h>
#include <ATen/ops/cudnn_convolution_relu.h>

#include "kernels/winograd.h"

namespace proca::kernels {
namespace {

// What cuDNN has refused in this process. Which types and numbers of channels it has a fused
// kernel for depends on its version and the GPU, and a failing call is slow.
class Refusals {
 public:
  using Kind = std::vector<int64_t>;

  bool contain(const Kind& kind) {
    const std::lock_guard lock(mutex_);
    return kinds_.contains(kind);
  }
  void add(const Kind& kind) {
    const std::lock_guard lock(mutex_);
    kinds_.insert(kind);
  }

 private:
  std::mutex mutex_;
  std::set<Kind> kinds_;
};

Refusals::Kind kind_of(const FusedConvolution& convolution, const torch::Tensor& residual) {
  auto kind = convolution.weight.sizes().vec();
  kind.insert(kind.end(), {convolution.stride, convolution.padding, residual.defined(),
                           static_cast<int64_t>(convolution.weight.scalar_type())});
  return kind;
}

torch::Tensor run_cudnn(const FusedConvolution& convolution, const torch::Tensor& input,
                        const torch::Tensor& residual) {
  const std::vector<int64_t> stride(2, convolution.stride), padding(2, convolution.padding),
      dilation(2, 1);
  if (residual.defined()) {
    return at::cudnn_convolution_add_relu(input, convolution.weight, residual, /*alpha=*/1.0,
                                          convolution.bias, stride, padding, dilation,
                                          /*groups=*/1);
  }
  return at::cudnn_convolution_relu(input, convolution.weight, convolution.bias, stride, padding,
                                    dilation, /*groups=*/1);
}

}  // namespace

torch::Tensor run_fused(const FusedConvolution& convolution, const torch::Tensor& input,
                        const torch::Tensor& residual) {
  static Refusals refusals;
  if (input.is_cuda() && convolution.relu && convolution.bias.defined()) {
    const auto kind = kind_of(convolution, residual);
    if (!refusals.contain(kind)) {
      try {
        return run_cudnn(convolution, input, residual);
      } catch (const c10::Error&) {
        // Another error comes up again in the separate operations below.
        refusals.add(kind);
      }
    }
  }
  if (convolution.transformed.defined() &&
      has_winograd(input, convolution.weight, convolution.stride, convolution.padding)) {
    return winograd_convolution(convolution, input, residual);
  }
  auto result = torch::conv2d(input, convolution.weight, convolution.bias, convolution.stride,
                              convolution.padding);
  if (residual.defined()) result.add_(residual);
  if (convolution.relu) result.relu_();
  return result;
}

}  // namespace proca::kernels
