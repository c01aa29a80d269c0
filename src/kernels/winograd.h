#pragma once

#include <cstdint>

#include <torch/types.h>

#include "kernels/fused_convolution.h"

namespace proca::kernels {

/// Winograd's convolution on a CPU (see winograd_loops.h): a 3 x 3 convolution of stride 1 with
/// a quarter of the multiplications, in float. It rounds differently from the direct
/// way: by some 1e-6 of the largest values, up to four times as much. What is not finite makes a
/// whole tile of 4 x 4 pixels not a number. There are no second derivatives.

/// Whether a convolution of `input` with `weight` can be done in this way, here, and is
/// faster so.
bool has_winograd(const torch::Tensor& input, const torch::Tensor& weight, int64_t stride,
                  int64_t padding);

/// Pairs of channels up to which the gradient of the weights is found in this way, too.
constexpr int64_t kWinogradGradientPairs = int64_t{128} * 128;

/// convolution(input, weight), with gradients for both. `has_winograd` must be true.
torch::Tensor winograd_convolution(const torch::Tensor& input, const torch::Tensor& weight);

/// `FusedConvolution::transformed`: made once, used for many batches. Undefined for a weight
/// that `has_winograd` with no input.
torch::Tensor winograd_weight(const torch::Tensor& weight);

/// As `run_fused`, without gradients. `has_winograd` must be true and the weight transformed.
torch::Tensor winograd_convolution(const FusedConvolution& convolution, const torch::Tensor& input,
                                   const torch::Tensor& residual);

}  // namespace proca::kernels
