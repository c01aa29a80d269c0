#include "proca/adaptation/pseudo_labels.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "adaptation/golden_cases.h"
#include "proca/core/error.h"

namespace proca::adaptation {
namespace {

using test::int_vector;
using test::matrix;
using Labels = std::vector<int64_t>;

TEST(PseudoLabelsTest, MatchesHandComputedCase) {
  // Centroids: class 0 (0.8 (4,0) + 0.1 (3,2) + 0.1 (0,4)) / 1 = (3.5, 0.6); class 1
  // (0.2 (4,0) + 0.9 (3,2) + 0.9 (0,4)) / 2 = (1.75, 2.7). Cosines of (3,2) to them:
  // 11.7 / (3.606 * 3.551) = 0.914 and 10.65 / (3.606 * 3.218) = 0.918: class 1.
  // Second round: (4,0) and ((3,2) + (0,4)) / 2 = (1.5, 3). Cosines of (3,2): 0.832 and
  // 10.5 / (3.606 * 3.354) = 0.868: still 1.
  const auto features = matrix({{4, 0}, {3, 2}, {0, 4}});
  const auto probabilities = matrix({{0.8, 0.2}, {0.1, 0.9}, {0.1, 0.9}});
  const auto result = cluster_pseudo_labels(features, probabilities, {0, 1}, CentroidSpace::kRaw);
  EXPECT_EQ(int_vector(result.first_labels), (Labels{0, 1, 1}));
  EXPECT_EQ(int_vector(result.labels), (Labels{0, 1, 1}));
  EXPECT_NEAR(result.similarities[0].item<double>(), 1.0, 1e-12);
  EXPECT_NEAR(result.similarities[1].item<double>(), 10.5 / std::sqrt(13.0 * 11.25), 1e-12);
  EXPECT_NEAR(result.similarities[2].item<double>(), 3 / std::sqrt(11.25), 1e-12);
}

TEST(PseudoLabelsTest, SecondRoundMayChangeItsMind) {
  // Certain probabilities: centroids (1,0) and the mean of (0,1), (0.8,0.7), which is
  // (0.4, 0.85). (0.8,0.7) has cosines 0.753 and 0.916; (1,0.3): 0.958 and 0.671; the
  // centroids of round two are ((1,0) + (1,0.3)) / 2 = (1, 0.15) and (0.4, 0.85).
  const auto features = matrix({{1, 0}, {0, 1}, {0.8, 0.7}, {1, 0.3}});
  const auto probabilities = matrix({{1, 0}, {0, 1}, {0, 1}, {0, 0}});
  const auto result = cluster_pseudo_labels(features, probabilities, {0, 1}, CentroidSpace::kRaw);
  EXPECT_EQ(int_vector(result.labels), (Labels{0, 1, 1, 0}));
  EXPECT_NEAR(result.similarities[3].item<double>(), 1.045 / std::sqrt(1.09 * (1 + 0.15 * 0.15)),
              1e-12);
}

TEST(PseudoLabelsTest, UnitSpaceAppendsAConstant) {
  // In one dimension all positive numbers point the same way, but [q; 1] does not.
  const auto features = matrix({{0.1}, {10}, {9}});
  const auto probabilities = matrix({{0.9, 0.1}, {0.1, 0.9}, {0.4, 0.6}});
  EXPECT_EQ(int_vector(cluster_pseudo_labels(features, probabilities, {0, 1}).labels),
            (Labels{0, 1, 1}));
  EXPECT_EQ(int_vector(
                cluster_pseudo_labels(features, probabilities, {0, 1}, CentroidSpace::kRaw).labels),
            (Labels{0, 0, 0}));
}

TEST(PseudoLabelsTest, ClassWithoutMembersDropsOutOfTheSecondRound) {
  // Class 1 has a little of both images and is nearest to neither. Its centroid of the
  // second round would be 0 / 0, and an argmin that takes NaN for small would give
  // class 1 to every image.
  const auto features = matrix({{1, 0}, {0, 1}});
  const auto probabilities = matrix({{0.8, 0.15, 0.05}, {0.05, 0.15, 0.8}});
  for (const auto space : {CentroidSpace::kUnit, CentroidSpace::kRaw}) {
    const auto result = cluster_pseudo_labels(features, probabilities, {0, 1, 2}, space);
    EXPECT_EQ(int_vector(result.first_labels), (Labels{0, 2}));
    EXPECT_EQ(int_vector(result.labels), (Labels{0, 2}));
    EXPECT_NEAR(result.similarities.min().item<double>(), 1.0, 1e-12);
  }
}

TEST(PseudoLabelsTest, OnlyTheGivenClassesAreUsed) {
  const auto features = matrix({{1, 0}, {0, 1}});
  const auto probabilities = matrix({{0.9, 0.06, 0.04}, {0.9, 0.04, 0.06}});
  EXPECT_EQ(int_vector(cluster_pseudo_labels(features, probabilities, {1, 2}).labels),
            (Labels{1, 2}));
  EXPECT_EQ(int_vector(cluster_pseudo_labels(features, probabilities, {2}).labels), (Labels{2, 2}));
}

TEST(PseudoLabelsTest, TiesGoToTheSmallerClass) {
  torch::manual_seed(9);
  const auto features = torch::rand({20, 7});
  const auto probabilities = torch::full({20, 5}, 0.2);  // all centroids are one
  const auto result = cluster_pseudo_labels(features, probabilities, {1, 2, 4});
  EXPECT_EQ(int_vector(result.labels), Labels(20, 1));
}

TEST(PseudoLabelsTest, ZeroVectorGetsTheFirstClass) {
  const auto features = matrix({{0, 0}, {0, 3}, {2, 0}});
  const auto probabilities = matrix({{0, 0, 1}, {0.9, 0.05, 0.05}, {0, 0.1, 0.9}});
  const auto result = cluster_pseudo_labels(features, probabilities, {0, 2}, CentroidSpace::kRaw);
  EXPECT_EQ(int_vector(result.labels), (Labels{0, 0, 2}));
  EXPECT_EQ(result.similarities[0].item<double>(), 0.0);
  EXPECT_TRUE(torch::isfinite(result.similarities).all().item<bool>());
}

TEST(PseudoLabelsTest, ClassWithoutProbabilityGetsNoImage) {
  const auto features = matrix({{1, 0.1}, {0.1, 1}});
  const auto probabilities = matrix({{0, 1, 0}, {0, 0, 1}});
  for (const auto space : {CentroidSpace::kUnit, CentroidSpace::kRaw}) {
    EXPECT_EQ(int_vector(cluster_pseudo_labels(features, probabilities, {0, 1, 2}, space).labels),
              (Labels{1, 2}));
  }
}

TEST(PseudoLabelsTest, NoImagesGiveEmptyTensors) {
  for (const auto space : {CentroidSpace::kUnit, CentroidSpace::kRaw}) {
    const auto result =
        cluster_pseudo_labels(torch::zeros({0, 4}), torch::zeros({0, 3}), {0, 2}, space);
    EXPECT_EQ(result.labels.sizes(), (std::vector<int64_t>{0}));
    EXPECT_EQ(result.first_labels.sizes(), (std::vector<int64_t>{0}));
    EXPECT_EQ(result.similarities.sizes(), (std::vector<int64_t>{0}));
    EXPECT_EQ(result.labels.scalar_type(), torch::kInt64);
    EXPECT_EQ(result.similarities.scalar_type(), torch::kFloat64);
  }
}

TEST(PseudoLabelsTest, MoreImagesThanOneBlockKeepTheirOrder) {
  // Blocks are of 4096 images.
  const auto classes = torch::arange(10'000).remainder(3);
  const auto one_hot = torch::eye(3).index_select(0, classes);
  const auto result = cluster_pseudo_labels(one_hot * 2, one_hot, {0, 1, 2});
  EXPECT_TRUE(torch::equal(result.labels, classes));
}

TEST(PseudoLabelsTest, RefusesWhatCannotBeClustered) {
  const auto features = torch::ones({2, 3});
  const auto probabilities = torch::full({2, 2}, 0.5);
  EXPECT_THROW(cluster_pseudo_labels(features, probabilities, {}), c10::Error);
  EXPECT_THROW(cluster_pseudo_labels(features, probabilities, {0, 2}), c10::Error);
  EXPECT_THROW(cluster_pseudo_labels(features, probabilities, {1, 0}), c10::Error);
  EXPECT_THROW(cluster_pseudo_labels(torch::ones({3, 3}), probabilities, {0}), c10::Error);
  const auto bad = torch::full({2, 2}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(cluster_pseudo_labels(features, bad, {0}), Error);
  EXPECT_THROW(cluster_pseudo_labels(bad, probabilities, {0}), Error);
}

TEST(PseudoLabelsTest, MatchesTheReference) {
  for (const auto& example : test::golden_cases("pseudo_labels")) {
    const auto features = matrix(example.at("features"));
    const auto probabilities = matrix(example.at("probabilities"));
    for (const auto& [name, expected] : example.at("results").items()) {
      const auto result =
          cluster_pseudo_labels(features, probabilities, example.at("classes").get<Labels>(),
                                name == "unit" ? CentroidSpace::kUnit : CentroidSpace::kRaw);
      EXPECT_EQ(int_vector(result.first_labels), expected.at("first").get<Labels>()) << name;
      EXPECT_EQ(int_vector(result.labels), expected.at("labels").get<Labels>()) << name;
      const auto similarities = expected.at("similarities").get<std::vector<double>>();
      EXPECT_TRUE(torch::allclose(result.similarities, torch::tensor(similarities, torch::kFloat64),
                                  0, 1e-9))
          << name;
    }
  }
}

}  // namespace
}  // namespace proca::adaptation
