#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace proca::report {

/// A place in a picture.
struct PlanePoint {
  double x = 0;
  double y = 0;
};

/// Which points lie near each other, as t-SNE sees it: the probability that i and j are a
/// pair, symmetric, 0 on the diagonal, of sum 1.
struct Affinities {
  int64_t num_points = 0;
  /// Row i begins at i * stride; what is behind `num_points` of a row is 0.
  int64_t stride = 0;
  std::vector<float> values;
};

/// Gaussian neighbourhoods of such a width in every point that they hold `perplexity`
/// others, or a third of them if that is less. `points` are rows of `dimensions` numbers.
Affinities make_affinities(std::span<const float> points, int64_t dimensions, double perplexity);

/// The gradient of t-SNE's cost KL(P || Q) by the places, with P multiplied by
/// `exaggeration`, where q_ij is proportional to 1 / (1 + |y_i - y_j|^2):
///
///     4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)
std::vector<PlanePoint> tsne_gradient(const Affinities& affinities,
                                      std::span<const PlanePoint> places, double exaggeration = 1);

/// KL(P || Q) itself.
double tsne_cost(const Affinities& affinities, std::span<const PlanePoint> places);

/// t-SNE (van der Maaten and Hinton, 2008) with all pairs, of `points` along their principal
/// components, the largest first: the picture starts from the first two, so there is no
/// chance in it and equal points give an equal picture. At most a few hundred points: time
/// goes with their square. None, one or equal points are fine.
std::vector<PlanePoint> tsne(std::span<const float> points, int64_t dimensions);

/// The first two principal components.
std::vector<PlanePoint> first_components(std::span<const float> points, int64_t dimensions);

}  // namespace proca::report
