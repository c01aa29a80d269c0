#include "kernels/max_pool.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/types.h>

#include "kernels/cuda/max_pool_launch.h"

namespace proca::kernels {
namespace {

constexpr int64_t kChannelMultiple = 8;

cuda::MaxPool shape_of(torch::ScalarType type, at::IntArrayRef sizes) {
  return {
      .type = type == torch::kBFloat16 ? cuda::ElementType::kBFloat16 : cuda::ElementType::kFloat,
      .images = static_cast<int>(sizes[0]),
      .height = static_cast<int>(sizes[2]),
      .width = static_cast<int>(sizes[3]),
      .channels = static_cast<int>(sizes[1]),
      .output_height = static_cast<int>((sizes[2] + 1) / 2),
      .output_width = static_cast<int>((sizes[3] + 1) / 2)};
}

bool can_run(const torch::Tensor& values) {
  const auto type = values.scalar_type();
  return values.is_cuda() && values.dim() == 4 && values.numel() > 0 &&
         (type == torch::kFloat32 || type == torch::kBFloat16) &&
         values.size(1) % kChannelMultiple == 0;
}

MaxPoolKernels::Result forward(const torch::Tensor& any_layout) {
  const c10::cuda::CUDAGuard guard(any_layout.device());
  const auto values = any_layout.contiguous(torch::MemoryFormat::ChannelsLast);
  const auto shape = shape_of(values.scalar_type(), values.sizes());
  const std::vector<int64_t> sizes = {shape.images, shape.channels, shape.output_height,
                                      shape.output_width};
  MaxPoolKernels::Result result;
  result.output = torch::empty(sizes, values.options(), torch::MemoryFormat::ChannelsLast);
  result.winners =
      torch::empty(sizes, values.options().dtype(torch::kUInt8), torch::MemoryFormat::ChannelsLast);
  cuda::launch_max_pool(shape, values.data_ptr(), result.output.data_ptr(),
                        result.winners.data_ptr<uint8_t>(), at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return result;
}

torch::Tensor backward(const torch::Tensor& output_gradient, const torch::Tensor& winners,
                       at::IntArrayRef input_shape) {
  const c10::cuda::CUDAGuard guard(output_gradient.device());
  const auto incoming = output_gradient.contiguous(torch::MemoryFormat::ChannelsLast);
  auto gradient = torch::empty(input_shape, incoming.options(), torch::MemoryFormat::ChannelsLast);
  cuda::launch_max_pool_backward(shape_of(incoming.scalar_type(), input_shape), incoming.data_ptr(),
                                 winners.data_ptr<uint8_t>(), gradient.data_ptr(),
                                 at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return gradient;
}

}  // namespace

const MaxPoolKernels* cuda_max_pool_kernels() {
  static const MaxPoolKernels kernels = {can_run, forward, backward};
  return &kernels;
}

}  // namespace proca::kernels
