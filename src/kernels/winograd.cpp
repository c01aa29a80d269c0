#include "kernels/winograd.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/cpu/winograd_loops.h"
#include "kernels/in_parallel.h"
#include "proca/compute/precision.h"

namespace proca::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Tiles reach over the edge where a side is no multiple of four: the most pixels of tiles per pixel
// of images with which this is still faster.
constexpr double kMostWaste = 1.7;
// Of one part of the sums for a weight's gradient.
constexpr int64_t kTilesPerPart = 48;
constexpr int64_t kMostParts = 16;
constexpr int64_t kMostSums = int64_t{1} << 22;  // numbers in all parts
// Pairs of channels. Transformed weights of more do not fit a cache; sums of their gradients are
// read and written, hence `kWinogradGradientPairs`.
constexpr int64_t kMostPairs = int64_t{256} * 256;

const WinogradLoops* loops() {
  static const WinogradLoops* const best =
      winograd_loops_avx512() != nullptr ? winograd_loops_avx512() : winograd_loops_avx2();
  return best;
}

torch::Tensor channels_last(const torch::Tensor& tensor) {
  return tensor.contiguous(torch::MemoryFormat::ChannelsLast);
}

WinogradShape shape_of(const torch::Tensor& input, const torch::Tensor& weight) {
  return {.images = input.size(0),
          .height = input.size(2),
          .width = input.size(3),
          .in_channels = weight.size(1),
          .out_channels = weight.size(0)};
}

bool fits(const torch::Tensor& weight) {
  return loops() != nullptr && weight.device().is_cpu() && weight.numel() > 0 &&
         weight.scalar_type() == torch::kFloat32 && weight.dim() == 4 && weight.size(2) == 3 &&
         weight.size(3) == 3 && weight.size(0) % WinogradShape::kVector == 0 &&
         weight.size(1) % WinogradShape::kVector == 0 &&
         weight.size(0) * weight.size(1) <= kMostPairs &&
         weight.is_contiguous(torch::MemoryFormat::ChannelsLast);
}

torch::Tensor transform(const torch::Tensor& weight, WinogradWay way) {
  const int64_t in = weight.size(1), out = weight.size(0);
  auto transformed = torch::empty({WinogradShape::kPositions, in, out}, torch::kFloat32);
  constexpr int64_t kTogether = WinogradShape::kVector;
  in_parallel(out / kTogether, [&](int64_t i) {
    loops()->transform_weights({.weights = weight.data_ptr<float>(),
                                .in_channels = in,
                                .out_channels = out,
                                .first = i * kTogether,
                                .last = (i + 1) * kTogether,
                                .way = way,
                                .transformed = transformed.data_ptr<float>()});
  });
  return transformed;
}

// Runs all tiles of a convolution, divided evenly among threads, at least a block for each.
void convolve(const ConvolveTiles& all) {
  const int64_t tiles = all.shape.tiles(), together = all.shape.tiles_together();
  const int64_t threads =
      std::clamp<int64_t>(tiles / WinogradShape::kBlock, 1, at::get_num_threads());
  const int64_t parts = threads * ((tiles + threads * together - 1) / (threads * together));
  in_parallel(parts, [&](int64_t i) {
    auto part = all;
    part.first = i * tiles / parts;
    part.last = (i + 1) * tiles / parts;
    loops()->convolve(part);
  });
}

torch::Tensor output_of(const WinogradShape& shape) {
  return torch::empty(
      {shape.images, shape.out_channels, shape.height, shape.width},
      torch::TensorOptions(torch::kFloat32).memory_format(torch::MemoryFormat::ChannelsLast));
}

torch::Tensor input_gradient(const torch::Tensor& output_gradient, const torch::Tensor& weight) {
  auto shape = shape_of(output_gradient, weight);
  std::swap(shape.in_channels, shape.out_channels);
  const auto transformed = transform(weight, WinogradWay::kBackward);
  auto gradient = output_of(shape);
  convolve({.shape = shape,
            .input = output_gradient.data_ptr<float>(),
            .transformed = transformed.data_ptr<float>(),
            .output = gradient.data_ptr<float>()});
  return gradient;
}

// Sums of products over tiles. The number of parts depends on the shape alone, so the result does
// not depend on the number of threads.
torch::Tensor weight_gradient(const torch::Tensor& output_gradient, const torch::Tensor& input,
                              const torch::Tensor& weight) {
  const auto shape = shape_of(input, weight);
  const int64_t tiles = shape.tiles();
  const int64_t parts = std::clamp<int64_t>(tiles / kTilesPerPart, 1,
                                            std::min(kMostParts, kMostSums / shape.weights()));
  const auto sums = torch::empty({parts, shape.weights()}, torch::kFloat32);
  in_parallel(parts, [&](int64_t i) {
    float* mine = sums.data_ptr<float>() + i * shape.weights();
    std::fill(mine, mine + shape.weights(), 0.0F);
    loops()->sum_weight_gradient({.shape = shape,
                                  .input = input.data_ptr<float>(),
                                  .output_gradient = output_gradient.data_ptr<float>(),
                                  .first = i * tiles / parts,
                                  .last = (i + 1) * tiles / parts,
                                  .sums = mine});
  });
  auto gradient = torch::empty_like(weight);
  constexpr int64_t kTogether = WinogradShape::kVector;
  in_parallel(shape.in_channels / kTogether, [&](int64_t i) {
    loops()->finish_weight_gradient({.shape = shape,
                                     .sums = sums.data_ptr<float>(),
                                     .parts = parts,
                                     .first = i * kTogether,
                                     .last = (i + 1) * kTogether,
                                     .gradient = gradient.data_ptr<float>()});
  });
  return gradient;
}

torch::Tensor direct_weight_gradient(const torch::Tensor& output_gradient,
                                     const torch::Tensor& input, const torch::Tensor& weight) {
  const std::vector<int64_t> one = {1, 1}, none = {0, 0};
  return std::get<1>(at::convolution_backward(
      output_gradient, input, weight, /*bias_sizes=*/{}, /*stride=*/one, /*padding=*/one,
      /*dilation=*/one, /*transposed=*/false, /*output_padding=*/none, /*groups=*/1,
      /*output_mask=*/{false, true, false}));
}

struct WinogradFunction : torch::autograd::Function<WinogradFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight) {
    context->save_for_backward({input, weight});
    return winograd_convolution(
        {.weight = weight, .transformed = transform(weight, WinogradWay::kForward)}, input, {});
  }

  static variable_list backward(AutogradContext* context, variable_list output_gradients) {
    TORCH_CHECK(!torch::GradMode::is_enabled(),
                "Winograd's convolution has no second derivatives: its gradients keep no graph");
    const auto saved = context->get_saved_variables();
    const auto &input = saved[0], &weight = saved[1];
    const auto output_gradient = channels_last(output_gradients[0]);
    variable_list gradients(2);
    if (context->needs_input_grad(0)) {
      gradients[0] = input_gradient(output_gradient, weight);
    }
    if (context->needs_input_grad(1)) {
      gradients[1] = weight.size(0) * weight.size(1) <= kWinogradGradientPairs
                         ? weight_gradient(output_gradient, input, weight)
                         : direct_weight_gradient(output_gradient, input, weight);
    }
    return gradients;
  }
};

}  // namespace

bool has_winograd(const torch::Tensor& input, const torch::Tensor& weight, int64_t stride,
                  int64_t padding) {
  if (compute::winograd() == compute::Winograd::kOff || stride != 1 || padding != 1 ||
      !fits(weight) || !input.device().is_cpu() || input.scalar_type() != torch::kFloat32 ||
      input.dim() != 4 || input.numel() == 0 || input.size(1) != weight.size(1)) {
    return false;
  }
  const auto shape = shape_of(input, weight);
  constexpr int64_t kTilePixels = WinogradShape::kTile * WinogradShape::kTile;
  const auto pixels = static_cast<double>(shape.images * shape.height * shape.width);
  return static_cast<double>(shape.tiles() * kTilePixels) <= kMostWaste * pixels;
}

torch::Tensor winograd_convolution(const torch::Tensor& input, const torch::Tensor& weight) {
  return WinogradFunction::apply(channels_last(input), weight);
}

torch::Tensor winograd_weight(const torch::Tensor& weight) {
  return fits(weight) ? transform(weight, WinogradWay::kForward) : torch::Tensor();
}

torch::Tensor winograd_convolution(const FusedConvolution& convolution, const torch::Tensor& input,
                                   const torch::Tensor& residual) {
  const auto shape = shape_of(input, convolution.weight);
  const auto dense_input = channels_last(input);
  const auto bias = convolution.bias.defined() ? convolution.bias.contiguous() : convolution.bias;
  TORCH_CHECK(!bias.defined() || bias.numel() == shape.out_channels, "a bias of ", bias.sizes(),
              " for ", shape.out_channels, " channels");
  auto output = output_of(shape);
  const auto added = residual.defined() ? channels_last(residual.expand_as(output)) : residual;
  convolve({.shape = shape,
            .input = dense_input.data_ptr<float>(),
            .transformed = convolution.transformed.data_ptr<float>(),
            .bias = bias.defined() ? bias.data_ptr<float>() : nullptr,
            .residual = added.defined() ? added.data_ptr<float>() : nullptr,
            .relu = convolution.relu,
            .output = output.data_ptr<float>()});
  return output;
}

}  // namespace proca::kernels
