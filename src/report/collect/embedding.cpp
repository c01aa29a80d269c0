#include "report/collect/embedding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "proca/core/interrupt.h"

namespace proca::report {
namespace {

constexpr double kPerplexity = 30;
constexpr double kNegligible = 1e-12;
constexpr int64_t kLanes = 8;  // floats that are worked on together

// Places as two arrays, filled up to whole lanes with points so far away that they do
// not count.
struct Plane {
  static constexpr float kFarAway = 1e8f;

  explicit Plane(std::span<const PlanePoint> places, int64_t stride)
      : x(static_cast<size_t>(stride), kFarAway), y(static_cast<size_t>(stride), kFarAway) {
    for (size_t i = 0; i < places.size(); ++i) {
      x[i] = static_cast<float>(places[i].x);
      y[i] = static_cast<float>(places[i].y);
    }
  }
  std::vector<float> x, y;
};

// The forces on one point. The lanes are separate sums: the compiler may not reorder
// floating-point sums by itself, and does lanes at once.
struct Forces {
  double pull_x = 0, pull_y = 0;  // sum of p w (y_i - y_j)
  double push_x = 0, push_y = 0;  // sum of w^2 (y_i - y_j)
  double weight = 0;              // sum of w, the point's own included
};

Forces forces_on(size_t i, const Plane& plane, const float* affinities, int64_t stride) {
  std::array<float, kLanes> pull_x{}, pull_y{}, push_x{}, push_y{}, weight{};
  const float own_x = plane.x[i], own_y = plane.y[i];
  for (int64_t begin = 0; begin < stride; begin += kLanes) {
    const float* x = plane.x.data() + begin;
    const float* y = plane.y.data() + begin;
    const float* p = affinities + begin;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float dx = own_x - x[lane], dy = own_y - y[lane];
      const float w = 1.0f / (1.0f + dx * dx + dy * dy);
      const float pw = p[lane] * w, ww = w * w;
      weight[lane] += w;
      pull_x[lane] += pw * dx;
      pull_y[lane] += pw * dy;
      push_x[lane] += ww * dx;
      push_y[lane] += ww * dy;
    }
  }
  Forces forces;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    forces.pull_x += static_cast<double>(pull_x[lane]);
    forces.pull_y += static_cast<double>(pull_y[lane]);
    forces.push_x += static_cast<double>(push_x[lane]);
    forces.push_y += static_cast<double>(push_y[lane]);
    forces.weight += static_cast<double>(weight[lane]);
  }
  return forces;
}

// The neighbours' shares for a Gaussian of precision `beta`, and how much their entropy
// falls with it.
struct Neighbourhood {
  double entropy = 0;
  double slope = 0;
};

Neighbourhood spread(const std::vector<double>& distances, size_t own, double beta,
                     std::vector<double>& shares) {
  double sum = 0, first = 0, second = 0;
  for (size_t j = 0; j < distances.size(); ++j) {
    shares[j] = j == own ? 0 : std::exp(-beta * distances[j]);
    sum += shares[j];
    first += shares[j] * distances[j];
    second += shares[j] * distances[j] * distances[j];
  }
  const double mean = first / sum;
  for (auto& share : shares) share /= sum;
  return {std::log(sum) + beta * mean, -beta * (second / sum - mean * mean)};
}

// Finds the precision that gives the entropy wanted: Newton's steps inside a bracket.
void fit_neighbourhood(std::vector<double> distances, size_t own, double wanted,
                       std::vector<double>& shares) {
  // Distances above the nearest: the same shares, and no sum that underflows to 0.
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t j = 0; j < distances.size(); ++j) {
    if (j != own) nearest = std::min(nearest, distances[j]);
  }
  double total = 0;
  for (auto& distance : distances) {
    distance = std::max(0.0, distance - nearest);
    total += distance;
  }
  double low = 0, high = std::numeric_limits<double>::infinity();
  double beta = total > 0 ? static_cast<double>(distances.size()) / total : 1;
  for (int attempt = 0; attempt < 60; ++attempt) {
    const auto [entropy, slope] = spread(distances, own, beta, shares);
    const double excess = entropy - wanted;
    if (std::abs(excess) < 1e-4) return;
    (excess > 0 ? low : high) = beta;
    const double newton = slope < 0 ? beta - excess / slope : -1;
    const bool inside = newton > low && newton < high;
    beta = inside ? newton : std::isinf(high) ? beta * 2 : (low + high) / 2;
    if (!std::isfinite(beta) || beta > 1e300) return;  // Equal points: any width will do.
  }
}

double squared_distance(const float* a, const float* b, int64_t dimensions) {
  double sum = 0;
  for (int64_t d = 0; d < dimensions; ++d) {
    const double difference = static_cast<double>(a[d]) - static_cast<double>(b[d]);
    sum += difference * difference;
  }
  return sum;
}

int64_t count_of(std::span<const float> points, int64_t dimensions) {
  return dimensions > 0 ? static_cast<int64_t>(points.size()) / dimensions : 0;
}

}  // namespace

Affinities make_affinities(std::span<const float> points, int64_t dimensions, double perplexity) {
  const int64_t n = count_of(points, dimensions);
  Affinities affinities{n, (n + kLanes - 1) / kLanes * kLanes, {}};
  affinities.values.resize(static_cast<size_t>(n * affinities.stride));
  if (n < 2) return affinities;
  const double wanted =
      std::log(std::max(1.0, std::min(perplexity, static_cast<double>(n - 1) / 3)));
  const auto at = [&](size_t i, size_t j) -> float& {
    return affinities.values[i * static_cast<size_t>(affinities.stride) + j];
  };
  const auto count = static_cast<size_t>(n);
  std::vector<double> distances(count), shares(count);
  for (size_t i = 0; i < count; ++i) {
    const auto* own = points.data() + static_cast<int64_t>(i) * dimensions;
    for (size_t j = 0; j < count; ++j) {
      const auto* other = points.data() + static_cast<int64_t>(j) * dimensions;
      distances[j] = squared_distance(own, other, dimensions);
    }
    fit_neighbourhood(distances, i, wanted, shares);
    for (size_t j = 0; j < count; ++j) {
      // Numbers too small to matter are also too small for a processor to be fast.
      const auto half = shares[j] < kNegligible
                            ? 0
                            : static_cast<float>(shares[j] / (2 * static_cast<double>(n)));
      at(i, j) += half;
      at(j, i) += half;
    }
  }
  return affinities;
}

std::vector<PlanePoint> tsne_gradient(const Affinities& affinities,
                                      std::span<const PlanePoint> places, double exaggeration) {
  const Plane plane(places, affinities.stride);
  std::vector<Forces> forces(places.size());
  double weight = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    forces[i] =
        forces_on(i, plane, affinities.values.data() + static_cast<int64_t>(i) * affinities.stride,
                  affinities.stride);
    weight += forces[i].weight - 1;  // without its own
  }
  weight = std::max(weight, std::numeric_limits<double>::min());
  std::vector<PlanePoint> gradient(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    gradient[i].x = 4 * (exaggeration * forces[i].pull_x - forces[i].push_x / weight);
    gradient[i].y = 4 * (exaggeration * forces[i].pull_y - forces[i].push_y / weight);
  }
  return gradient;
}

double tsne_cost(const Affinities& affinities, std::span<const PlanePoint> places) {
  const auto weight_of = [&](size_t i, size_t j) {
    const double dx = places[i].x - places[j].x, dy = places[i].y - places[j].y;
    return 1 / (1 + dx * dx + dy * dy);
  };
  double sum = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t j = 0; j < places.size(); ++j) sum += i == j ? 0 : weight_of(i, j);
  }
  double cost = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t j = 0; j < places.size(); ++j) {
      const double p =
          static_cast<double>(affinities.values[i * static_cast<size_t>(affinities.stride) + j]);
      if (i != j && p > 0) cost += p * std::log(p / (weight_of(i, j) / sum));
    }
  }
  return cost;
}

std::vector<PlanePoint> first_components(std::span<const float> points, int64_t dimensions) {
  std::vector<PlanePoint> places(static_cast<size_t>(count_of(points, dimensions)));
  for (size_t i = 0; i < places.size(); ++i) {
    const auto* row = points.data() + static_cast<int64_t>(i) * dimensions;
    places[i] = {static_cast<double>(row[0]), dimensions > 1 ? static_cast<double>(row[1]) : 0};
  }
  return places;
}

std::vector<PlanePoint> tsne(std::span<const float> points, int64_t dimensions) {
  constexpr int64_t kIterations = 300, kExaggerated = 100;
  constexpr double kExaggeration = 12, kStartSpread = 1e-2;
  auto places = first_components(points, dimensions);
  double squares = 0;
  for (const auto& place : places) squares += place.x * place.x;
  if (places.size() < 3 || squares == 0) return places;
  const double scale = kStartSpread / std::sqrt(squares / static_cast<double>(places.size()));
  for (auto& place : places) place = {place.x * scale, place.y * scale};

  const auto affinities = make_affinities(points, dimensions, kPerplexity);
  const double rate = std::max(50.0, static_cast<double>(places.size()) / kExaggeration / 4);
  // Each coordinate has its own pace: faster while it goes on in one direction.
  std::vector<PlanePoint> velocity(places.size()), pace(places.size(), PlanePoint{1, 1});
  const auto move = [&](double gradient, double& speed, double& gain, double& place,
                        double momentum) {
    gain = gradient * speed < 0 ? gain + 0.2 : std::max(0.01, gain * 0.8);
    speed = momentum * speed - rate * gain * gradient;
    place += speed;
  };
  for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
    throw_if_interrupted("stopped while the report was made");
    const bool early = iteration < kExaggerated;
    const auto gradient = tsne_gradient(affinities, places, early ? kExaggeration : 1);
    const double momentum = early ? 0.5 : 0.8;
    for (size_t i = 0; i < places.size(); ++i) {
      move(gradient[i].x, velocity[i].x, pace[i].x, places[i].x, momentum);
      move(gradient[i].y, velocity[i].y, pace[i].y, places[i].y, momentum);
    }
  }
  return places;
}

}  // namespace proca::report
