#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace proca::report {

/// Points of a picture: point i is at (x[i], y[i]).
struct Plane {
  std::vector<float> x, y;
};

/// Which points are near each other, for t-SNE: the probability that i and j are a pair, [N * N],
/// symmetric, 0 on the diagonal, of sum 1. Every point has a Gaussian neighbourhood that holds
/// `perplexity` others, or a third of them if that is less. `points` are rows of `dimensions`
/// numbers.
std::vector<float> tsne_affinities(std::span<const float> points, int64_t dimensions,
                                   double perplexity);

/// The gradient of t-SNE's cost KL(P || Q) with respect to the places, with P multiplied by
/// `exaggeration`, where q_ij is proportional to 1 / (1 + |y_i - y_j|^2):
///
///     4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)
Plane tsne_gradient(std::span<const float> affinities, const Plane& places, float exaggeration = 1);

/// t-SNE (van der Maaten and Hinton, 2008) with all pairs, of `points` along their principal
/// components, the largest first. It starts from the first two components, so equal points give
/// an equal picture. For a few hundred points: time grows with their square. Zero, one or equal
/// points are fine.
Plane tsne(std::span<const float> points, int64_t dimensions);

/// The first two principal components.
Plane first_components(std::span<const float> points, int64_t dimensions);

}  // namespace proca::report
