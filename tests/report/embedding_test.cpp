#include "report/collect/embedding.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "proca/core/random.h"

namespace proca::report {
namespace {

// Two clouds of `count` points each, `distance` apart along the first of `dimensions`.
std::vector<float> two_clouds(int64_t count, int64_t dimensions, float distance) {
  RandomStream random(0, "clouds");
  std::vector<float> points;
  for (int64_t i = 0; i < 2 * count; ++i) {
    for (int64_t d = 0; d < dimensions; ++d) {
      const auto noise = static_cast<float>(random.uniform_int(1000)) / 1000;
      points.push_back(noise + (d == 0 && i >= count ? distance : 0));
    }
  }
  return points;
}

float distance(const Plane& places, size_t a, size_t b) {
  return std::hypot(places.x[a] - places.x[b], places.y[a] - places.y[b]);
}

bool is_finite(const Plane& places) {
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::all_of(places.x.begin(), places.x.end(), finite) &&
         std::all_of(places.y.begin(), places.y.end(), finite);
}

// KL(P || Q), which t-SNE minimises.
double tsne_cost(const std::vector<float>& affinities, const Plane& places) {
  const auto n = places.x.size();
  const auto weight_of = [&](size_t i, size_t j) {
    const double dx = places.x[i] - places.x[j], dy = places.y[i] - places.y[j];
    return 1 / (1 + dx * dx + dy * dy);
  };
  double sum = 0, cost = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) sum += i == j ? 0 : weight_of(i, j);
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const auto p = static_cast<double>(affinities[i * n + j]);
      if (i != j && p > 0) cost += p * std::log(p / (weight_of(i, j) / sum));
    }
  }
  return cost;
}

TEST(EmbeddingTest, ClustersThatAreApartStayApart) {
  constexpr size_t kCount = 40;
  const auto places = tsne(two_clouds(kCount, 5, 10), 5);
  ASSERT_EQ(places.x.size(), 2 * kCount);
  // The nearest neighbour of every point is of its own cloud.
  for (size_t i = 0; i < places.x.size(); ++i) {
    size_t nearest = i == 0 ? 1 : 0;
    for (size_t j = 0; j < places.x.size(); ++j) {
      if (j != i && distance(places, i, j) < distance(places, i, nearest)) nearest = j;
    }
    EXPECT_EQ(i < kCount, nearest < kCount) << i;
  }
}

TEST(EmbeddingTest, EqualPointsGiveEqualPictures) {
  const auto points = two_clouds(20, 4, 3);
  const auto first = tsne(points, 4), second = tsne(points, 4);
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.y, second.y);
}

TEST(EmbeddingTest, AffinitiesAreASymmetricDistribution) {
  constexpr size_t kCount = 22;
  const auto affinities = tsne_affinities(two_clouds(kCount / 2, 3, 4), 3, 5);
  ASSERT_EQ(affinities.size(), kCount * kCount);
  double sum = 0;
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(affinities[i * kCount + i], 0);
    for (size_t j = 0; j < kCount; ++j) {
      sum += static_cast<double>(affinities[i * kCount + j]);
      EXPECT_EQ(affinities[i * kCount + j], affinities[j * kCount + i]);
    }
  }
  EXPECT_NEAR(sum, 1, 1e-5);  // of floats
}

// Three points on a line, one and then two apart; with perplexity 1 the nearest one takes
// all: p(1|0) = p(0|1) = p(1|2) = 1, so p01 = (1 + 1) / 6, p12 = 1 / 6, p02 = 0.
TEST(EmbeddingTest, AffinitiesMatchHandComputedOnes) {
  const auto affinities = tsne_affinities(std::vector<float>{0, 1, 3}, 1, 1);
  EXPECT_NEAR(affinities[1], 2.0 / 6, 1e-4);
  EXPECT_NEAR(affinities[5], 1.0 / 6, 1e-4);
  EXPECT_NEAR(affinities[2], 0, 1e-4);
}

TEST(EmbeddingTest, GradientMatchesFiniteDifferences) {
  const auto affinities = tsne_affinities(two_clouds(6, 3, 2), 3, 4);
  RandomStream random(1, "places");
  Plane places;
  for (int64_t i = 0; i < 12; ++i) {
    places.x.push_back(static_cast<float>(random.uniform_int(2000)) / 500 - 2);
    places.y.push_back(static_cast<float>(random.uniform_int(2000)) / 500 - 2);
  }
  const auto gradient = tsne_gradient(affinities, places);
  constexpr float kStep = 1.0f / 512;  // exact in floats
  for (auto coordinate : {&Plane::x, &Plane::y}) {
    for (size_t i = 0; i < places.x.size(); ++i) {
      auto above = places, below = places;
      (above.*coordinate)[i] += kStep;
      (below.*coordinate)[i] -= kStep;
      const double slope =
          (tsne_cost(affinities, above) - tsne_cost(affinities, below)) / (2.0 * kStep);
      EXPECT_NEAR((gradient.*coordinate)[i], slope, 1e-5);  // The gradient is made of floats.
    }
  }
}

TEST(EmbeddingTest, FewAndEqualPointsAreFine) {
  EXPECT_TRUE(tsne({}, 0).x.empty());
  EXPECT_EQ(tsne(std::vector<float>{1, 2}, 2).x.size(), 1u);
  EXPECT_EQ(tsne(std::vector<float>{1, 2, 3}, 1).x.size(), 3u);
  const auto equal = tsne(std::vector<float>(40, 0.0f), 4);
  ASSERT_EQ(equal.x.size(), 10u);
  EXPECT_TRUE(is_finite(equal));
  // Two places, five points in each.
  std::vector<float> doubles(20, 0.0f);
  std::fill(doubles.begin() + 10, doubles.end(), 1.0f);
  EXPECT_TRUE(is_finite(tsne(doubles, 2)));
}

TEST(EmbeddingTest, FirstComponentsAreTheFirstTwoNumbers) {
  const auto places = first_components(std::vector<float>{1, 2, 3, 4, 5, 6}, 3);
  EXPECT_EQ(places.x, (std::vector<float>{1, 4}));
  EXPECT_EQ(places.y, (std::vector<float>{2, 5}));
  EXPECT_EQ(first_components(std::vector<float>{7}, 1).y, std::vector<float>{0});
}

}  // namespace
}  // namespace proca::report
