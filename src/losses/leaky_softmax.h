#pragma once

#include <torch/types.h>

/// ETN's auxiliary classifier (Cao et al., CVPR 2019) ends in a softmax that leaks:
///
///     p_k = exp(z_k) / (K + sum_j exp(z_j))          d = sum_k p_k < 1
///
/// d is near 1 for images that look like one of the source's classes, and tells the
/// domains apart: 1 for source, 0 for target. Everything here is computed from
/// logarithms and takes
///
/// | argument | dtype | shape  |                                     |
/// |----------|-------|--------|-------------------------------------|
/// | logits   | float | [N, K] | z, of the auxiliary classifier      |
namespace proca::losses {

/// log p, float [N, K].
torch::Tensor leaky_log_softmax(const torch::Tensor& logits);

/// The logit of d, float [N]: d = sigmoid(log sum_k exp(z_k) - log K).
torch::Tensor leaky_domain_logits(const torch::Tensor& logits);

/// Binary cross-entropy of each of the K probabilities:
///
///     mean_j  [ -log p_jy - sum_{k != y} log(1 - p_jk) ]       y the label of j
///
/// In the logarithm 1 - p is at least 1e-7, about the precision of float.
/// Labels are int64 [N], every value in [0, K). An empty batch gives zero.
torch::Tensor leaky_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels);

/// Weights of source images, from the logits of d of a batch, float [N]:
///
///     w_j = (1 - d_j) / (mean_j (1 - d_j) + 1e-10)
///
/// High for source images that look like target images. They are 1 on average, and
/// constants: no gradient passes. When all d_j are near 1 the numerators are all
/// small, and their noise decides.
torch::Tensor instance_weights(const torch::Tensor& domain_logits);

}  // namespace proca::losses
