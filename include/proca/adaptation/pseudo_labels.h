#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

namespace proca::adaptation {

/// In which space images and centroids are compared.
enum class CentroidSpace {
  /// q -> [q; 1] / ||[q; 1]||: a constant is appended and the vector normalised
  /// before averaging, as the authors' program does.
  kUnit,
  kRaw,  ///< the features as they are; only the comparison is by cosine: the paper
};

/// The result of clustering for each target image.
struct PseudoLabels {
  torch::Tensor labels;        ///< int64 [N], final
  torch::Tensor first_labels;  ///< int64 [N], after the first round
  torch::Tensor similarities;  ///< double [N], cosine to the final label's centroid
};

/// Labels target images by the nearest class centroid, twice:
///
///     c_k = sum_i p_ik q_i / (sum_i p_ik + 1e-8)       k among `classes`
///     y_i = argmax_k cos(q_i, c_k)
///     c_k = mean of q_i over y_i = k                   empty classes drop out
///     y_i = argmax_k cos(q_i, c_k)
///
/// The weights p are the softmax over all K classes, not renormalised over
/// `classes`. Computed in double on the CPU; ties go to the smaller class.
///
/// | argument      | dtype | shape  |                        |
/// |---------------|-------|--------|------------------------|
/// | features      | float | [N, D] |                        |
/// | probabilities | float | [N, K] |                        |
/// | classes       |       |        | ascending, at least one |
///
/// N = 0 gives empty tensors. With `kRaw` a feature vector of zero length is equally
/// far from all and gets the first class. Throws `Error` when a number is not finite.
PseudoLabels cluster_pseudo_labels(const torch::Tensor& features,
                                   const torch::Tensor& probabilities,
                                   const std::vector<int64_t>& classes,
                                   CentroidSpace space = CentroidSpace::kUnit);

}  // namespace proca::adaptation
