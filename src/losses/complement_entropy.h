#pragma once

#include <torch/types.h>

namespace proca::losses {

/// BA3US's weighted complement entropy (Liang et al., ECCV 2020): flattens the
/// probabilities of the wrong classes, most of all on images of low confidence, so that
/// uncertainty does not turn into confidence in one wrong class.
///
///     p     = softmax(logits)
///     P_jk  = p_jk / (1 - p_jy + 1e-7)                      k != y, y the label of j
///     t_j   = sum_{k != y} P_jk log(P_jk + 1e-10) / log(K - 1)
///     w_j   = weight_j (1 - p_jy) / sum_j (1 - p_jy)
///     L     = sum_j w_j t_j / sum_j w_j
///
/// t_j lies in [-1, 0]: minus the entropy of the wrong classes among themselves, -1
/// where they are all equal. The w_j are constants; gradients flow through P_jk, the
/// 1 - p_jy in it included.
///
/// | argument | dtype | shape  |                                      |
/// |----------|-------|--------|--------------------------------------|
/// | logits   | float | [N, K] |                                      |
/// | labels   | int64 | [N]    | every value in [0, K)                |
/// | weights  | float | [N]    | not negative; 1 without class weights |
///
/// Returns a scalar. It is zero where there is nothing to flatten: for one or two
/// classes, an empty batch, weights that are all zero, and when every image is
/// certain of its label.
torch::Tensor complement_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                                 const torch::Tensor& weights);

}  // namespace proca::losses
