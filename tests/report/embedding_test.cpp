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

double distance(const PlanePoint& a, const PlanePoint& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

TEST(EmbeddingTest, ClustersThatAreApartStayApart) {
  constexpr size_t kCount = 40;
  const auto places = tsne(two_clouds(kCount, 5, 10), 5);
  ASSERT_EQ(places.size(), 2 * kCount);
  // The nearest neighbour of every point is of its own cloud.
  for (size_t i = 0; i < places.size(); ++i) {
    size_t nearest = i == 0 ? 1 : 0;
    for (size_t j = 0; j < places.size(); ++j) {
      if (j != i && distance(places[i], places[j]) < distance(places[i], places[nearest])) {
        nearest = j;
      }
    }
    EXPECT_EQ(i < kCount, nearest < kCount) << i;
  }
}

TEST(EmbeddingTest, EqualPointsGiveEqualPictures) {
  const auto points = two_clouds(20, 4, 3);
  const auto first = tsne(points, 4), second = tsne(points, 4);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].x, second[i].x);
    EXPECT_EQ(first[i].y, second[i].y);
  }
}

TEST(EmbeddingTest, AffinitiesAreASymmetricDistribution) {
  const auto affinities = make_affinities(two_clouds(11, 3, 4), 3, 5);
  ASSERT_EQ(affinities.num_points, 22);
  double sum = 0;
  for (int64_t i = 0; i < 22; ++i) {
    for (int64_t j = 0; j < affinities.stride; ++j) {
      const auto value = affinities.values[static_cast<size_t>(i * affinities.stride + j)];
      sum += static_cast<double>(value);
      if (j >= 22 || i == j) {
        EXPECT_EQ(value, 0);
      } else {
        EXPECT_EQ(value, affinities.values[static_cast<size_t>(j * affinities.stride + i)]);
      }
    }
  }
  EXPECT_NEAR(sum, 1, 1e-5);  // of floats
}

// Three points on a line, one and then two apart; with perplexity 1 the nearest one takes
// all: p(1|0) = p(0|1) = p(1|2) = 1, so p01 = (1 + 1) / 6, p12 = 1 / 6, p02 = 0.
TEST(EmbeddingTest, AffinitiesMatchHandComputedOnes) {
  const std::vector<float> points = {0, 1, 3};
  const auto affinities = make_affinities(points, 1, 1);
  const auto at = [&](int64_t i, int64_t j) {
    return affinities.values[static_cast<size_t>(i * affinities.stride + j)];
  };
  EXPECT_NEAR(at(0, 1), 2.0 / 6, 1e-4);
  EXPECT_NEAR(at(1, 2), 1.0 / 6, 1e-4);
  EXPECT_NEAR(at(0, 2), 0, 1e-4);
}

TEST(EmbeddingTest, GradientMatchesFiniteDifferences) {
  const auto affinities = make_affinities(two_clouds(6, 3, 2), 3, 4);
  RandomStream random(1, "places");
  std::vector<PlanePoint> places(12);
  for (auto& [x, y] : places) {
    x = static_cast<double>(random.uniform_int(2000)) / 500 - 2;
    y = static_cast<double>(random.uniform_int(2000)) / 500 - 2;
  }
  const auto gradient = tsne_gradient(affinities, places);
  constexpr double kStep = 1e-4;
  for (size_t i = 0; i < places.size(); ++i) {
    for (double PlanePoint::*coordinate : {&PlanePoint::x, &PlanePoint::y}) {
      auto above = places, below = places;
      above[i].*coordinate += kStep;
      below[i].*coordinate -= kStep;
      const double slope =
          (tsne_cost(affinities, above) - tsne_cost(affinities, below)) / (2 * kStep);
      EXPECT_NEAR(gradient[i].*coordinate, slope, 1e-5);  // The gradient is made of floats.
    }
  }
}

TEST(EmbeddingTest, FewAndEqualPointsAreFine) {
  EXPECT_TRUE(tsne({}, 0).empty());
  EXPECT_EQ(tsne(std::vector<float>{1, 2}, 2).size(), 1u);
  EXPECT_EQ(tsne(std::vector<float>{1, 2, 3}, 1).size(), 3u);
  const auto equal = tsne(std::vector<float>(40, 0.0f), 4);
  ASSERT_EQ(equal.size(), 10u);
  for (const auto& place : equal) EXPECT_TRUE(std::isfinite(place.x) && std::isfinite(place.y));
  // Two places, five points in each.
  std::vector<float> doubles(20, 0.0f);
  std::fill(doubles.begin() + 10, doubles.end(), 1.0f);
  for (const auto& place : tsne(doubles, 2)) {
    EXPECT_TRUE(std::isfinite(place.x) && std::isfinite(place.y));
  }
}

TEST(EmbeddingTest, FirstComponentsAreTheFirstTwoNumbers) {
  const auto places = first_components(std::vector<float>{1, 2, 3, 4, 5, 6}, 3);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[1].x, 4);
  EXPECT_EQ(places[1].y, 5);
  EXPECT_EQ(first_components(std::vector<float>{7}, 1).at(0).y, 0);
}

}  // namespace
}  // namespace proca::report
