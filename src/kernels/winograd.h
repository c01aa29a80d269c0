#pragma once

#include <cstdint>

#include <torch/types.h>

#include "kernels/fused_convolution.h"

namespace proca::kernels {

/// Winograd's convolution on a CPU (see winograd_loops.h): a 3 x 3 convolution of stride 1 with
/// a quarter of the multiplications, in float. Its rounding error is some 1e-6 of the largest
/// values, up to four times that of direct convolution. A value that is not finite makes its
/// whole tile of 4 x 4 pixels NaN. There are no second derivatives.

/// Whether this processor supports it for `input` and `weight`, it is faster, and it is not
/// switched off (`compute::set_winograd`).
bool has_winograd(const torch::Tensor& input, const torch::Tensor& weight, int64_t stride,
                  int64_t padding);

/// Pairs of channels up to which the gradient of the weights is computed in this way, too.
constexpr int64_t kWinogradGradientPairs = int64_t{128} * 128;

/// convolution(input, weight), with gradients for both. `has_winograd` must be true.
torch::Tensor winograd_convolution(const torch::Tensor& input, const torch::Tensor& weight);

/// `FusedConvolution::transformed`. Undefined for a weight that this cannot be done with.
torch::Tensor winograd_weight(const torch::Tensor& weight);

/// As `run_fused`, without gradients. `has_winograd` must be true and the weight transformed.
torch::Tensor winograd_convolution(const FusedConvolution& convolution, const torch::Tensor& input,
                                   const torch::Tensor& residual);

}  // namespace proca::kernels
