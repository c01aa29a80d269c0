#include <algorithm>
#include <numeric>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/types.h>

#include "kernels/batch_norm_kernels.h"
#include "kernels/cuda/batch_norm_launch.h"

namespace proca::kernels {
namespace {

torch::Tensor dense(const torch::Tensor& values) {
  return values.dim() == 4 ? values.contiguous(torch::MemoryFormat::ChannelsLast)
                           : values.contiguous();
}

cuda::ElementType type_of(const torch::Tensor& values) {
  return values.scalar_type() == torch::kBFloat16 ? cuda::ElementType::kBFloat16
                                                  : cuda::ElementType::kFloat;
}

// Chooses the chunks of the groups in `first_pixel`.
void divide_pixels(cuda::Layout& layout, int num_multiprocessors) {
  const int width = cuda::block_width(layout.channels);
  const int64_t tiles = layout.channels / (width * cuda::kUnit);
  const int64_t rows = cuda::kThreads / width;
  const int64_t pixels = std::max<int64_t>(1, layout.first_pixel[layout.num_groups]);
  // Six blocks for every multiprocessor, but no chunk of less than four pixels a thread.
  const int64_t wanted = std::max<int64_t>(1, 6 * num_multiprocessors / tiles);
  for (int group = 0; group < layout.num_groups; ++group) {
    const int64_t count = layout.first_pixel[group + 1] - layout.first_pixel[group];
    const int64_t fair = (wanted * count + pixels - 1) / pixels;
    const int64_t most = std::max<int64_t>(1, count / (4 * rows));
    layout.first_chunk[group + 1] =
        layout.first_chunk[group] + static_cast<int>(std::min(fair, most));
  }
}

cuda::Layout layout_of(const BatchNormInput& input) {
  const auto& values = input.values;
  cuda::Layout layout;
  layout.channels = static_cast<int>(values.size(1));
  layout.num_groups = static_cast<int>(input.group_sizes.size());
  const int64_t pixels_per_image = values.numel() / (values.size(0) * values.size(1));
  for (size_t group = 0; group < input.group_sizes.size(); ++group) {
    layout.first_pixel[group + 1] =
        layout.first_pixel[group] + input.group_sizes[group] * pixels_per_image;
  }
  divide_pixels(layout, at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
  return layout;
}

int64_t num_used(const BatchNormInput& input) {
  return std::accumulate(input.group_sizes.begin(), input.group_sizes.end(), int64_t{0});
}

bool can_run(const BatchNormInput& input) {
  const auto& values = input.values;
  const auto type = values.scalar_type();
  return values.is_cuda() && (values.dim() == 4 || values.dim() == 2) && values.numel() > 0 &&
         (type == torch::kFloat32 || type == torch::kBFloat16) &&
         values.size(1) % cuda::kUnit == 0 && input.weight.scalar_type() == torch::kFloat32 &&
         input.group_sizes.size() <= static_cast<size_t>(cuda::kMaxGroups);
}

// Padding behind the last group must be finite: gradients of weights multiply it with zero.
void clear_padding(const BatchNormInput& input, torch::Tensor& values) {
  const int64_t used = num_used(input);
  if (used < values.size(0)) values.narrow(0, used, values.size(0) - used).zero_();
}

// With several ranks, their totals are summed in between. A rank without images takes part, too:
// all must round alike.
template <typename Work>
void launch(const Work& work, const torch::Tensor& totals, compute::Ranks* ranks) {
  const auto stream = at::cuda::getCurrentCUDAStream();
  cuda::launch_sums(work, stream);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  if (ranks != nullptr) ranks->sum(totals);
  cuda::launch_output(work, stream);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor empty_partial(const cuda::Layout& layout, const torch::TensorOptions& floats) {
  return torch::empty({layout.num_chunks(), 2, layout.channels}, floats);
}

BatchNormResult forward(const BatchNormInput& input) {
  const c10::cuda::CUDAGuard guard(input.values.device());
  const auto values = dense(input.values);
  const auto layout = layout_of(input);
  const auto floats = input.weight.options();
  const int64_t groups = layout.num_groups, channels = layout.channels;
  BatchNormResult result;
  result.output = torch::empty_like(values);
  result.mean = torch::empty({groups, channels}, floats);
  result.inv_std = torch::empty({groups, channels}, floats);
  torch::Tensor residual;
  if (input.residual.defined()) {
    residual = dense(input.residual.to(values.scalar_type()));
    if (input.relu) {
      result.mask =
          torch::empty({values.numel() / cuda::kUnit}, values.options().dtype(torch::kUInt8));
    }
  }
  const auto partial = empty_partial(layout, floats);
  cuda::Forward work{.layout = layout,
                     .type = type_of(values),
                     .values = values.data_ptr(),
                     .residual = residual.defined() ? residual.data_ptr() : nullptr,
                     .weight = input.weight.data_ptr<float>(),
                     .bias = input.bias.data_ptr<float>(),
                     .running_mean = input.running_mean.data_ptr<float>(),
                     .running_var = input.running_var.data_ptr<float>(),
                     .num_batches_tracked = input.num_batches_tracked.data_ptr<int64_t>(),
                     .momentum = static_cast<float>(input.momentum),
                     .epsilon = static_cast<float>(input.epsilon),
                     .relu = input.relu,
                     .output = result.output.data_ptr(),
                     .mean = result.mean.data_ptr<float>(),
                     .inv_std = result.inv_std.data_ptr<float>(),
                     .mask = result.mask.defined() ? result.mask.data_ptr<uint8_t>() : nullptr,
                     .partial = partial.data_ptr<float>()};
  torch::Tensor totals;
  if (input.ranks != nullptr) {
    totals = torch::empty({groups, 1 + 2 * channels}, floats.dtype(torch::kFloat64));
    work.totals = totals.data_ptr<double>();
  }
  launch(work, totals, input.ranks);
  if (totals.defined()) result.pixels = totals.select(1, 0).contiguous();
  clear_padding(input, result.output);
  return result;
}

BatchNormGradients backward(const torch::Tensor& output_gradient, const BatchNormInput& input,
                            const BatchNormResult& result) {
  const c10::cuda::CUDAGuard guard(input.values.device());
  const auto values = dense(input.values);
  const auto incoming = dense(output_gradient.to(values.scalar_type()));
  const auto layout = layout_of(input);
  const auto floats = input.weight.options();
  BatchNormGradients gradients;
  gradients.values = torch::empty_like(values);
  gradients.weight = torch::empty_like(input.weight);
  gradients.bias = torch::empty_like(input.bias);
  if (input.residual.defined()) {
    // Without ReLU the gradient passes through.
    gradients.residual = input.relu ? torch::empty_like(values) : incoming;
  }
  const auto partial = empty_partial(layout, floats);
  const auto coefficients = torch::empty({2, layout.num_groups, layout.channels}, floats);
  cuda::Backward work{.layout = layout,
                      .type = type_of(values),
                      .output_gradient = incoming.data_ptr(),
                      .values = values.data_ptr(),
                      .weight = input.weight.data_ptr<float>(),
                      .bias = input.bias.data_ptr<float>(),
                      .mean = result.mean.data_ptr<float>(),
                      .inv_std = result.inv_std.data_ptr<float>(),
                      .mask = result.mask.defined() ? result.mask.data_ptr<uint8_t>() : nullptr,
                      .relu = input.relu,
                      .values_gradient = gradients.values.data_ptr(),
                      .residual_gradient = input.residual.defined() && input.relu
                                               ? gradients.residual.data_ptr()
                                               : nullptr,
                      .weight_gradient = gradients.weight.data_ptr<float>(),
                      .bias_gradient = gradients.bias.data_ptr<float>(),
                      .partial = partial.data_ptr<float>(),
                      .coefficients = coefficients.data_ptr<float>()};
  torch::Tensor totals;
  if (input.ranks != nullptr) {
    totals = torch::empty({layout.num_groups, 2, layout.channels}, floats.dtype(torch::kFloat64));
    work.totals = totals.data_ptr<double>();
    work.pixels = result.pixels.data_ptr<double>();
  }
  launch(work, totals, input.ranks);
  clear_padding(input, gradients.values);
  if (input.residual.defined()) clear_padding(input, gradients.residual);
  return gradients;
}

}  // namespace

const BatchNormKernels* cuda_batch_norm_kernels() {
  static const BatchNormKernels kernels = {can_run, forward, backward};
  return &kernels;
}

}  // namespace proca::kernels
