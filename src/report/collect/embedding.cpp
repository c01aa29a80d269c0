#include "report/collect/embedding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proca/core/interrupt.h"

namespace proca::report {
namespace {

// Probabilities exp(-precision * distance) / sum of all others, in `shares`; returns their entropy.
double neighbour_shares(const std::vector<double>& distances, size_t own, double precision,
                        std::vector<double>& shares) {
  double sum = 0, weighted = 0;
  for (size_t j = 0; j < distances.size(); ++j) {
    shares[j] = j == own ? 0 : std::exp(-precision * distances[j]);
    sum += shares[j];
    weighted += shares[j] * distances[j];
  }
  for (auto& share : shares) share /= sum;
  return std::log(sum) + precision * weighted / sum;
}

// The shares whose entropy is `wanted`, by bisection. `distances` are those from the point `own`.
void fit_shares(std::vector<double>& distances, size_t own, double wanted,
                std::vector<double>& shares) {
  // Relative to the nearest, so that the sum of exponentials does not underflow, and to the mean.
  distances[own] = std::numeric_limits<double>::infinity();
  const double nearest = *std::min_element(distances.begin(), distances.end());
  distances[own] = nearest;
  const double mean = std::accumulate(distances.begin(), distances.end(), 0.0) /
                          static_cast<double>(distances.size()) -
                      nearest;
  for (auto& distance : distances) distance = (distance - nearest) / (mean > 0 ? mean : 1);
  // Of the precision's logarithm. The entropy of equal points is too large for any precision.
  double low = -10, high = 60;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const double middle = (low + high) / 2;
    const double excess = neighbour_shares(distances, own, std::exp2(middle), shares) - wanted;
    if (std::abs(excess) < 1e-4) return;
    (excess > 0 ? low : high) = middle;
  }
}

}  // namespace

std::vector<float> tsne_affinities(std::span<const float> points, int64_t dimensions,
                                   double perplexity) {
  const auto size = static_cast<size_t>(dimensions), n = points.size() / size;
  std::vector<float> affinities(n * n);
  const double wanted =
      std::log(std::max(1.0, std::min(perplexity, (static_cast<double>(n) - 1) / 3)));
  std::vector<double> distances(n), shares(n);
  for (size_t i = 0; i < n; ++i) {
    const auto own = points.subspan(i * size, size);
    for (size_t j = 0; j < n; ++j) {
      const auto other = points.subspan(j * size, size);
      distances[j] =
          std::transform_reduce(own.begin(), own.end(), other.begin(), 0.0, std::plus<>(),
                                [](double a, double b) { return (a - b) * (a - b); });
    }
    fit_shares(distances, i, wanted, shares);
    for (size_t j = 0; j < n; ++j) {
      if (shares[j] < 1e-12) continue;  // Denormal floats would be slow.
      const auto half = static_cast<float>(shares[j] / static_cast<double>(2 * n));
      affinities[i * n + j] += half;
      affinities[j * n + i] += half;
    }
  }
  return affinities;
}

Plane tsne_gradient(std::span<const float> affinities, const Plane& places, float exaggeration) {
  const auto n = places.x.size();
  Plane pull{std::vector<float>(n), std::vector<float>(n)}, push = pull;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const float *x = places.x.data(), *y = places.y.data(), *p = affinities.data() + i * n;
    const float own_x = x[i], own_y = y[i];
    float weights = 0, pull_x = 0, pull_y = 0, push_x = 0, push_y = 0;
#pragma omp simd reduction(+ : weights, pull_x, pull_y, push_x, push_y)
    for (size_t j = 0; j < n; ++j) {
      const float dx = own_x - x[j], dy = own_y - y[j];
      const float weight = 1.0f / (1.0f + dx * dx + dy * dy);
      weights += weight;
      pull_x += p[j] * weight * dx;
      pull_y += p[j] * weight * dy;
      push_x += weight * weight * dx;
      push_y += weight * weight * dy;
    }
    sum += static_cast<double>(weights) - 1;  // without its own
    pull.x[i] = pull_x, pull.y[i] = pull_y;
    push.x[i] = push_x, push.y[i] = push_y;
  }
  const auto scale = static_cast<float>(1 / std::max(sum, 1e-30));
  for (size_t i = 0; i < n; ++i) {
    pull.x[i] = 4 * (exaggeration * pull.x[i] - scale * push.x[i]);
    pull.y[i] = 4 * (exaggeration * pull.y[i] - scale * push.y[i]);
  }
  return pull;
}

Plane first_components(std::span<const float> points, int64_t dimensions) {
  Plane places;
  for (size_t i = 0; i < points.size(); i += static_cast<size_t>(dimensions)) {
    places.x.push_back(points[i]);
    places.y.push_back(dimensions > 1 ? points[i + 1] : 0);
  }
  return places;
}

Plane tsne(std::span<const float> points, int64_t dimensions) {
  constexpr int64_t kIterations = 300, kExaggerated = 100;
  constexpr float kExaggeration = 12, kStartDeviation = 1e-2f;
  constexpr double kPerplexity = 30;
  auto places = first_components(points, dimensions);
  const auto n = places.x.size();
  float squares = 0;
  for (const float x : places.x) squares += x * x;
  if (n < 3 || squares == 0) return places;
  const float scale = kStartDeviation / std::sqrt(squares / static_cast<float>(n));
  for (auto* coordinate : {&places.x, &places.y}) {
    for (auto& value : *coordinate) value *= scale;
  }

  const auto affinities = tsne_affinities(points, dimensions, kPerplexity);
  const float rate = std::max(50.0f, static_cast<float>(n) / kExaggeration / 4);
  // Each coordinate has its own gain, which grows while its gradient keeps its direction.
  Plane velocity{std::vector<float>(n), std::vector<float>(n)};
  Plane gain{std::vector<float>(n, 1), std::vector<float>(n, 1)};
  for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
    throw_if_interrupted("stopped while the report was made");
    const bool is_early = iteration < kExaggerated;
    const auto gradient = tsne_gradient(affinities, places, is_early ? kExaggeration : 1);
    const float momentum = is_early ? 0.5f : 0.8f;
    for (auto coordinate : {&Plane::x, &Plane::y}) {
      for (size_t i = 0; i < n; ++i) {
        const float slope = (gradient.*coordinate)[i];
        auto& speed = (velocity.*coordinate)[i];
        auto& own = (gain.*coordinate)[i];
        own = slope * speed < 0 ? own + 0.2f : std::max(0.01f, own * 0.8f);
        speed = momentum * speed - rate * own * slope;
        (places.*coordinate)[i] += speed;
      }
    }
  }
  return places;
}

}  // namespace proca::report
