#pragma once

#include <cstdint>

#include <torch/types.h>

namespace proca::adaptation {

/// The nearest images of each image by the cosine of their features, nearest first: int64
/// [N, count], fewer columns if there are fewer other images.
///
/// `features` is float [N, D]. Computed in double on the CPU; of equally near images the first
/// comes first. Of more than 20,000 images, neighbours are looked for among 20,000 that are
/// spread evenly over all, so that the time stays proportional to N. Throws `Error` when a
/// feature is not a finite number.
torch::Tensor nearest_neighbours(const torch::Tensor& features, int64_t count);

/// Each row of `values`, double [N, K], averaged with those of its neighbours, int64 [N, n]:
///
///     a_i = ( v_i + sum of v_j over the neighbours j of i ) / (n + 1)
///
/// Images of one class lie close to each other in feature space even where the classifier
/// is wrong about some of them, so that neighbours outvote single mistakes. With n = 0 the
/// result is `values`.
torch::Tensor average_with(const torch::Tensor& neighbours, const torch::Tensor& values);

}  // namespace proca::adaptation
