#pragma once

#include <cstdint>

#include <torch/types.h>

#include "proca/core/random.h"

namespace proca::losses {

/// Similarity of a feature and a class centre.
enum class Similarity {
  kCosine,        ///< in [-1, 1], whatever the lengths
  kInnerProduct,  ///< as in ProCA's paper; large features need a large temperature
};

/// Options for `prototype_contrastive_loss`.
struct PrototypeContrastiveOptions {
  /// Softmax temperature. Must be positive; smaller values sharpen the contrast.
  double temperature = 0.07;
  /// Subtracted from the similarity to the own centre. Zero or more.
  double margin = 0.3;
  Similarity similarity = Similarity::kCosine;

  /// Throws `InvalidOption` naming the first field that is out of range.
  void validate() const;
};

/// Pulls each feature towards the centre of its own class and away from those of
/// other classes: ProCA's alignment loss L_con,
///
///     mean_i  -log( e^((s(i, y_i) - m) / t)
///                   / ( e^((s(i, y_i) - m) / t) + sum_{j in N_i} e^(s(i, j) / t) ) )
///
/// with s the similarity, m the margin, t the temperature, and N_i the negatives of
/// image i. Computed with log-sum-exp. Gradients reach `features` only; centres
/// are constants.
///
/// | argument  | dtype | shape  |                                                       |
/// |-----------|-------|--------|-------------------------------------------------------|
/// | features  | float | [N, D] |                                                       |
/// | labels    | int64 | [N]    | every value in [0, K)                                 |
/// | centres   | float | [K, D] | need not be normalised; a zero row has similarity 0   |
/// | negatives | int64 | [N, n] | classes, repeats allowed; undefined: all but the own  |
///
/// Returns a scalar. An empty batch (N = 0) gives zero, and so does K = 1 without
/// `negatives`, since nothing competes. With the cosine a feature of zero length has
/// similarity 0 to every centre and gets no gradient.
///
/// Example:
/// ```
/// const auto negatives = sample_negatives(labels, centres.size(0), 10, random);
/// const auto loss = prototype_contrastive_loss(features, labels, centres, {}, negatives);
/// ```
torch::Tensor prototype_contrastive_loss(const torch::Tensor& features, const torch::Tensor& labels,
                                         const torch::Tensor& centres,
                                         const PrototypeContrastiveOptions& options = {},
                                         const torch::Tensor& negatives = {});

/// For every label `count` classes other than its own, drawn uniformly with
/// replacement: int64 [N, count] on the device of `labels`. The labels are not
/// read back to the host. With a single class there is nothing to draw: the
/// result then is [N, 0].
torch::Tensor sample_negatives(const torch::Tensor& labels, int64_t num_classes, int64_t count,
                               RandomStream& random);

}  // namespace proca::losses
