// Batch normalisation of a batch that ranks share, in LibTorch's operations: for devices without a
// kernel, and for empty shares on a CPU.

#include <numeric>
#include <utility>

#include "kernels/batch_norm_kernels.h"

namespace proca::kernels {
namespace {

// All dimensions but the channels.
std::vector<int64_t> inner(const torch::Tensor& values) {
  return values.dim() == 4 ? std::vector<int64_t>{0, 2, 3} : std::vector<int64_t>{0};
}

// Per-channel numbers [C], broadcast over values.
torch::Tensor spread(const torch::Tensor& numbers, const torch::Tensor& values) {
  return values.dim() == 4 ? numbers.view({1, -1, 1, 1}) : numbers.view({1, -1});
}

torch::Tensor sum_of(const torch::Tensor& values) {
  return values.sum(inner(values), /*keepdim=*/false, torch::kFloat64);
}

// Sums and sums of squares, double [C] each.
std::pair<torch::Tensor, torch::Tensor> moments_of(const torch::Tensor& values) {
  const auto floats = values.to(torch::kFloat32);
  return {sum_of(floats), sum_of(floats.square())};
}

// (x - mean) / std * weight + bias.
torch::Tensor normalised(const torch::Tensor& values, const BatchNormInput& input,
                         const torch::Tensor& mean, const torch::Tensor& inv_std) {
  const auto scale = input.weight * inv_std;
  return values * spread(scale, values) + spread(input.bias - mean * scale, values);
}

// The two sums of the backward pass: of the gradient, and of its products with (x - mean) / std.
std::pair<torch::Tensor, torch::Tensor> gradient_sums(const torch::Tensor& gradient,
                                                      const torch::Tensor& values,
                                                      const torch::Tensor& mean,
                                                      const torch::Tensor& inv_std) {
  const auto floats = gradient.to(torch::kFloat32);
  const auto centred =
      (values.to(torch::kFloat32) - spread(mean, values)) * spread(inv_std, values);
  return {sum_of(floats), sum_of(floats * centred)};
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
    const auto [sums, squares] = moments_of(input.values.narrow(0, first, count));
    all[i][0].fill_(static_cast<double>(count * image));
    all[i].narrow(0, 1, channels).copy_(sums);
    all[i].narrow(0, 1 + channels, channels).copy_(squares);
  });
  input.ranks->sum(all);
  const auto pixels = all.select(1, 0);
  const auto means = all.narrow(1, 1, channels) / pixels.unsqueeze(1);
  // Bit-equal to batch_norm_cpu.cpp, which other ranks of the batch may use.
  const auto squares = all.narrow(1, 1 + channels, channels) - pixels.unsqueeze(1) * means * means;
  const auto variances = squares.clamp_min(0) / pixels.unsqueeze(1);
  BatchNormResult result;
  result.output = torch::zeros_like(input.values);
  result.mean = means.to(torch::kFloat32);
  result.inv_std = (1 / (variances + input.epsilon).sqrt()).to(torch::kFloat32);
  result.pixels = pixels.contiguous();
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto move = [&](const torch::Tensor& running, const torch::Tensor& seen) {
      running.copy_(running.to(torch::kFloat64) * (1 - input.momentum) + seen * input.momentum);
    };
    move(input.running_mean, means[i]);
    move(input.running_var, variances[i] * pixels[i] / (pixels[i] - 1));
    auto output =
        normalised(input.values.narrow(0, first, count), input, result.mean[i], result.inv_std[i]);
    if (input.residual.defined()) output += input.residual.narrow(0, first, count);
    if (input.relu) output.relu_();
    result.output.narrow(0, first, count).copy_(output);
  });
  input.num_batches_tracked.add_(groups);
  return result;
}

// As in batch_norm_cpu.cpp. Weight and bias get the gradients of this rank's images; the engine
// adds up those of all ranks.
BatchNormGradients backward(const torch::Tensor& output_gradient, const BatchNormInput& input,
                            const BatchNormResult& result) {
  const torch::NoGradGuard no_grad;
  const auto groups = static_cast<int64_t>(input.group_sizes.size());
  const int64_t channels = input.values.size(1);
  const auto incoming = input.relu ? torch::where(result.output > 0, output_gradient,
                                                  torch::zeros_like(output_gradient))
                                   : output_gradient;
  const auto all = torch::zeros({groups, 2, channels},
                                torch::dtype(torch::kFloat64).device(input.values.device()));
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto [sums, products] =
        gradient_sums(incoming.narrow(0, first, count), input.values.narrow(0, first, count),
                      result.mean[i], result.inv_std[i]);
    all[i][0].copy_(sums);
    all[i][1].copy_(products);
  });
  BatchNormGradients gradients;
  gradients.bias = all.select(1, 0).sum(0).to(input.weight.scalar_type());
  gradients.weight = all.select(1, 1).sum(0).to(input.weight.scalar_type());
  input.ranks->sum(all);
  const auto averages = (all / result.pixels.view({-1, 1, 1})).to(torch::kFloat32);
  gradients.values = torch::zeros_like(input.values);
  // dx = scale (g - mean(g)) - slope (x - mean(x)), with scale and slope per channel.
  for_groups(input, [&](int64_t i, int64_t first, int64_t count) {
    const auto gradient = incoming.narrow(0, first, count);
    const auto scale = input.weight * result.inv_std[i];
    const auto slope = scale * result.inv_std[i] * averages[i][1];
    const auto offset = slope * result.mean[i] - scale * averages[i][0];
    auto part = torch::addcmul(spread(offset, gradient), gradient.to(torch::kFloat32),
                               spread(scale, gradient));
    part.addcmul_(input.values.narrow(0, first, count).to(torch::kFloat32), spread(slope, gradient),
                  -1);
    gradients.values.narrow(0, first, count).copy_(part);
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

}  // namespace proca::kernels
