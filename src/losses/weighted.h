#pragma once

#include <torch/types.h>

/// Losses per image, and two weighted averages of them. Partial domain adaptation weighs
/// source images by how likely the target is to show their class.
namespace proca::losses {

/// -log softmax(logits)[label] of every image; `reduction` is an `at::Reduction`.
torch::Tensor negative_log_likelihood(const torch::Tensor& logits, const torch::Tensor& labels,
                                      int64_t reduction);

/// -log softmax(logits)[label] of every image, float [N].
///
/// | argument | dtype | shape  |                       |
/// |----------|-------|--------|-----------------------|
/// | logits   | float | [N, K] |                       |
/// | labels   | int64 | [N]    | every value in [0, K) |
torch::Tensor cross_entropy_each(const torch::Tensor& logits, const torch::Tensor& labels);

/// Entropy of softmax(logits) of every image, in nats, float [N]:
///
///     H_i = - sum_k p_ik log p_ik
///
/// Computed from log-probabilities, so that probabilities of zero need no epsilon
/// inside the logarithm; the originals' 1e-20 and 1e-7 there change H by less than
/// K times themselves.
///
/// | argument | dtype | shape  |
/// |----------|-------|--------|
/// | logits   | float | [N, K] |
torch::Tensor entropy_each(const torch::Tensor& logits);

/// Binary cross-entropy of every image against the same target, float [N]. It takes
/// the logit z of the probability sigmoid(z), never the probability: log sigmoid(z)
/// is exact where sigmoid(z) is rounded to 0 or 1.
///
///     - target log sigmoid(z) - (1 - target) log(1 - sigmoid(z))
///
/// | argument | dtype | shape |                                        |
/// |----------|-------|-------|----------------------------------------|
/// | logits   | float | [N]   |                                        |
/// | target   |       |       | 1 or 0; of a discriminator 1 is source |
torch::Tensor binary_cross_entropy_each(const torch::Tensor& logits, double target);

/// Divides by the sum of the weights:
///
///     sum_j w_j v_j / (1e-8 + sum_j w_j)
///
/// Weights that are all zero give zero, and so does an empty batch. Gradients reach
/// the values and the weights in the numerator; the denominator is a constant, as in
/// BA3US.
///
/// | argument | dtype | shape |              |
/// |----------|-------|-------|--------------|
/// | values   | float | [N]   |              |
/// | weights  | float | [N]   | not negative |
torch::Tensor average_by_weight(const torch::Tensor& values, const torch::Tensor& weights);

/// Divides by the number of images, so that a batch of small weights counts for
/// little: sum_j w_j v_j / N. Zero for an empty batch. Arguments as above.
torch::Tensor mean_of_weighted(const torch::Tensor& values, const torch::Tensor& weights);

/// `average_by_weight` of `cross_entropy_each`: the classification loss of PADA
/// (Cao et al., ECCV 2018) and BA3US (Liang et al., ECCV 2020), with the weight of
/// each image's class. A batch of one class is the plain mean whatever its weight.
torch::Tensor weighted_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                                     const torch::Tensor& weights);

}  // namespace proca::losses
