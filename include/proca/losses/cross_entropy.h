#pragma once

#include <torch/types.h>

namespace proca::losses {

/// Mean over the batch of -log softmax(logits)[label].
///
/// | argument | dtype | shape  |                       |
/// |----------|-------|--------|-----------------------|
/// | logits   | float | [N, K] |                       |
/// | labels   | int64 | [N]    | every value in [0, K) |
///
/// Returns a scalar; an empty batch (N = 0) gives zero, where LibTorch's own
/// function gives NaN.
torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels);

/// The same against a distribution per image, at temperature 1:
///
///     mean_i  - sum_k h_ik log softmax(logits_i)_k
///
/// ProCA's distillation loss L_dis, with h the soft labels stored with the
/// prototypes. Gradients reach `logits` only.
///
/// | argument    | dtype | shape  |                        |
/// |-------------|-------|--------|------------------------|
/// | logits      | float | [N, K] |                        |
/// | soft_labels | float | [N, K] | rows that add up to 1  |
///
/// An empty batch gives zero.
torch::Tensor soft_cross_entropy(const torch::Tensor& logits, const torch::Tensor& soft_labels);

}  // namespace proca::losses
