// Batch normalisation of a batch of which every rank has a share, in LibTorch's own
// operations: for devices without a kernel that can, and for shares that are empty.

#include <numeric>

#include "batch_norm_kernels.h"

namespace proca::models {
namespace {

// All dimensions but the channels.
std::vector<int64_t> inner(const torch::Tensor& values) {
  return values.dim() == 4 ? std::vector<int64_t>{0, 2, 3} : std::vector<int64_t>{0};
}

// Numbers of channels [C], to be used with values.
torch::Tensor spread(const torch::Tensor& numbers, const torch::Tensor& values) {
  return values.dim() == 4 ? numbers.view({1, -1, 1, 1}) : numbers.view({1, -1});
}

torch::Tensor sum_of(const torch::Tensor& values) {
  return values.sum(inner(values), /*keepdim=*/false, torch::kFloat64);
}

bool can_run(const BatchNormInput& input) { return input.ranks != nullptr; }

// Calls work(number of the group, its first image, how many).
template <typename Work>
void for_groups(const BatchNormInput& input, Work work) {
  int64_t first = 0;
  for (size_t i = 0; i < input.group_sizes.size(); ++i) {
    work(static_cast<int64_t>(i), first, input.group_sizes[i]);
    first += input.group_sizes[i];
  }
}

BatchNormResult forward(const BatchNormInput& input) {
  const torch::NoGradGuard no_grad;
  const auto groups = static_cast<int64_t>(input.group_sizes.size());
  const int64_t channels = input.values.size(1);
  const int64_t image = input.values.dim() == 4 ? input.values.size(2) * input.values.size(3) : 1;
  const auto doubles = torch::dtype(torch::kFloat64).device(input.values.device());
  // Count, sum and sum of squares; doubles leave enough digits of their difference.
  const auto all = torch::zeros({groups, 2 * channels + 1}, doubles);
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto values = input.values.narrow(0, first, count).to(torch::kFloat32);
    all[i][0].fill_(static_cast<double>(count * image));
    all[i].narrow(0, 1, channels).copy_(sum_of(values));
    all[i].narrow(0, 1 + channels, channels).copy_(sum_of(values.square()));
  });
  input.ranks->sum(all);
  const auto pixels = all.select(1, 0);
  const auto means = all.narrow(1, 1, channels) / pixels.unsqueeze(1);
  const auto variances =
      (all.narrow(1, 1 + channels, channels) / pixels.unsqueeze(1) - means.square()).clamp_min(0);
  BatchNormResult result;
  result.output = torch::zeros_like(input.values);
  result.mean = means.to(torch::kFloat32);
  result.inv_std = (variances + input.epsilon).rsqrt().to(torch::kFloat32);
  result.pixels = pixels.contiguous();
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto unbiased = variances[i] * (pixels[i] / (pixels[i] - 1));
    input.running_mean.mul_(1 - input.momentum).add_(means[i].to(torch::kFloat32), input.momentum);
    input.running_var.mul_(1 - input.momentum).add_(unbiased.to(torch::kFloat32), input.momentum);
    const auto values = input.values.narrow(0, first, count).to(torch::kFloat32);
    const auto scale = input.weight * result.inv_std[i];
    auto output =
        values * spread(scale, values) + spread(input.bias - result.mean[i] * scale, values);
    if (input.residual.defined()) output += input.residual.narrow(0, first, count);
    if (input.relu) output.relu_();
    result.output.narrow(0, first, count).copy_(output);
  });
  input.num_batches_tracked.add_(groups);
  return result;
}

// As in batch_norm_cpu.cpp. Weight and bias get the gradients of this rank's images: those
// of all ranks are added up with all other weights'.
BatchNormGradients backward(const torch::Tensor& output_gradient, const BatchNormInput& input,
                            const BatchNormResult& result) {
  const torch::NoGradGuard no_grad;
  const auto groups = static_cast<int64_t>(input.group_sizes.size());
  const int64_t channels = input.values.size(1);
  auto incoming = output_gradient.to(torch::kFloat32);
  if (input.relu) incoming = incoming * (result.output > 0);
  const auto all = torch::zeros({groups, 2, channels},
                                torch::dtype(torch::kFloat64).device(input.values.device()));
  const auto normalised = [&](int64_t i, int64_t first, int64_t count) {
    const auto values = input.values.narrow(0, first, count).to(torch::kFloat32);
    return (values - spread(result.mean[i], values)) * spread(result.inv_std[i], values);
  };
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto gradient = incoming.narrow(0, first, count);
    all[i][0].copy_(sum_of(gradient));
    all[i][1].copy_(sum_of(gradient * normalised(i, first, count)));
  });
  BatchNormGradients gradients;
  gradients.bias = all.select(1, 0).sum(0).to(input.weight.scalar_type());
  gradients.weight = all.select(1, 1).sum(0).to(input.weight.scalar_type());
  input.ranks->sum(all);
  const auto averages = (all / result.pixels.view({-1, 1, 1})).to(torch::kFloat32);
  gradients.values = torch::zeros_like(input.values);
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto gradient = incoming.narrow(0, first, count);
    const auto difference = gradient - spread(averages[i][0], gradient) -
                            normalised(i, first, count) * spread(averages[i][1], gradient);
    gradients.values.narrow(0, first, count)
        .copy_(difference * spread(input.weight * result.inv_std[i], gradient));
  });
  if (input.residual.defined()) {
    gradients.residual = incoming.to(input.values.scalar_type());
    const int64_t used =
        std::accumulate(input.group_sizes.begin(), input.group_sizes.end(), int64_t{0});
    gradients.residual.narrow(0, used, input.values.size(0) - used).zero_();
  }
  return gradients;
}

}  // namespace

const BatchNormKernels& shared_batch_norm_kernels() {
  static constexpr BatchNormKernels kKernels = {can_run, forward, backward};
  return kKernels;
}

}  // namespace proca::models
