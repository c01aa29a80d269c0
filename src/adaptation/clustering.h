#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "proca/adaptation/pseudo_labels.h"

namespace proca::adaptation {

/// Images in the space of the centroids, for clustering them more than once.
struct Points {
  torch::Tensor rows;     ///< double [N, D']
  torch::Tensor lengths;  ///< double [N]
};

/// Throws `Error` when a feature, float [N, D], is not a finite number.
Points make_points(const torch::Tensor& features, CentroidSpace space);

/// The two rounds of `cluster_pseudo_labels`. `weights`, double [N, S], is p of the S classes,
/// which are ascending and at least one.
PseudoLabels cluster_points(const Points& points, const torch::Tensor& weights,
                            const std::vector<int64_t>& classes);

}  // namespace proca::adaptation
