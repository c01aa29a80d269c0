// The detection rule `cluster-mass` and what it is made of.

#include <cmath>

#include <gtest/gtest.h>

#include "adaptation/detection/neighbours.h"
#include "adaptation/golden_cases.h"
#include "proca/adaptation/shared_classes.h"
#include "proca/core/error.h"

namespace proca::adaptation {
namespace {

using test::matrix;
using Labels = std::vector<int64_t>;

// `counts[k]` images of class k, all alike: feature e_k, probabilities `rows[k]`.
struct Groups {
  std::vector<int64_t> counts;
  std::vector<std::vector<double>> rows;
};

DetectionInput input_of(const Groups& groups) {
  std::vector<std::vector<double>> probabilities, features;
  for (size_t k = 0; k < groups.counts.size(); ++k) {
    std::vector<double> feature(groups.counts.size(), 0.0);
    feature[k] = 1;
    probabilities.insert(probabilities.end(), static_cast<size_t>(groups.counts[k]),
                         groups.rows[k]);
    features.insert(features.end(), static_cast<size_t>(groups.counts[k]), feature);
  }
  const auto num_classes = static_cast<int64_t>(groups.rows.front().size());
  return {.probabilities = matrix(probabilities),
          .source_prior = torch::full({num_classes}, 1.0 / static_cast<double>(num_classes)),
          .features = matrix(features)};
}

DetectionOptions plain() { return {.rule = "cluster-mass", .correction = 0, .neighbours = 0}; }

TEST(NeighboursTest, AreTheNearestByCosineAndNeverTheImageItself) {
  // Directions of 0, 10, 80 and 90 degrees, at different lengths.
  const auto at = [](double degrees, double length) {
    const double angle = degrees * M_PI / 180;
    return std::vector<double>{length * std::cos(angle), length * std::sin(angle)};
  };
  const auto features = matrix({at(0, 1), at(10, 5), at(80, 2), at(90, 1)});
  EXPECT_TRUE(torch::equal(nearest_neighbours(features, 1).flatten(),
                           torch::tensor({1, 0, 3, 2}, torch::kInt64)));
  EXPECT_TRUE(
      torch::equal(nearest_neighbours(features, 2)[0], torch::tensor({1, 2}, torch::kInt64)));
  EXPECT_EQ(nearest_neighbours(features, 9).size(1), 3) << "there are no more";
  EXPECT_EQ(nearest_neighbours(features.slice(0, 0, 1), 3).size(1), 0);
  EXPECT_EQ(nearest_neighbours(features.slice(0, 0, 0), 3).size(0), 0);
  EXPECT_THROW(nearest_neighbours(features * NAN, 1), Error);
}

TEST(NeighboursTest, OfEquallyNearImagesTheFirstComesFirst) {
  EXPECT_TRUE(torch::equal(nearest_neighbours(torch::ones({4, 2}), 2),
                           torch::tensor({{1, 2}, {0, 2}, {0, 1}, {0, 1}}, torch::kInt64)));
}

TEST(NeighboursTest, AverageCountsTheImageItself) {
  const auto neighbours = torch::tensor({{1, 2}, {0, 2}, {1, 0}}, torch::kInt64);
  const auto values = matrix({{3, 0}, {0, 6}, {0, 0}});
  EXPECT_TRUE(torch::allclose(average_with(neighbours, values), matrix({{1, 2}, {1, 2}, {1, 2}})));
  const auto none = torch::empty({3, 0}, torch::kInt64);
  EXPECT_TRUE(torch::equal(average_with(none, values), values));
}

TEST(ClassBackgroundTest, AveragesOverImagesOfOtherLabels) {
  ClassBackground background;
  EXPECT_TRUE(background.empty());
  background.add(matrix({{-1, -2}, {-3, -4}}), torch::tensor({0, 1}, torch::kInt64));
  EXPECT_EQ(background.sums(), (std::vector<double>{-3, -2}));
  EXPECT_EQ(background.counts(), (Labels{1, 1}));
  background.add(matrix({{-5, -6}}), torch::tensor({0}, torch::kInt64));
  EXPECT_EQ(background.sums(), (std::vector<double>{-3, -8}));
  EXPECT_EQ(background.counts(), (Labels{1, 2}));
  EXPECT_THROW(ClassBackground::restore({1.0}, {}), std::invalid_argument);
}

// 10 images of class 0, 10 of class 1. Class 2 gets 0.3 of every one of them, 6 in all, but
// wins none: its cluster is empty, and it goes in the first round.
TEST(ClusterMassTest, DropsAClassThatWinsNoImageHoweverMuchItCollects) {
  const auto input = input_of({{10, 10}, {{0.7, 0.0, 0.3}, {0.0, 0.7, 0.3}}});
  const auto result = detect_shared_classes(input, plain());
  EXPECT_EQ(result.classes, (Labels{0, 1}));
  EXPECT_EQ(result.dropped_in[0], 0);
  EXPECT_EQ(result.dropped_in[1], 0);
  EXPECT_NE(result.dropped_in[2], 0);
  // All that is left is equally strong.
  EXPECT_NEAR(result.scores[0], 1, 1e-12);
  EXPECT_NEAR(result.scores[1], 1, 1e-12);
  EXPECT_LT(result.scores[2], result.threshold);
}

TEST(ClusterMassTest, SmallClustersGoBelowTheLeastMassAndStayAboveIt) {
  // Masses 20, 20 and n of mean (40 + n) / 3: n = 4 is 0.27 of 14.7, n = 5 is 0.33 of 15.
  const auto detect = [](int64_t count) {
    return detect_shared_classes(input_of({{20, 20, count}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}),
                                 plain())
        .classes;
  };
  EXPECT_EQ(detect(4), (Labels{0, 1}));
  EXPECT_EQ(detect(5), (Labels{0, 1, 2}));
}

// Class 2 gets 0.8 of every image; what is special about the images is in the rest.
TEST(ClusterMassTest, TheBackgroundOfALookIsTakenOff) {
  const auto input = input_of({{10, 10}, {{0.19, 0.01, 0.8}, {0.01, 0.19, 0.8}}});
  EXPECT_EQ(detect_shared_classes(input, plain()).classes, (Labels{2}));
  auto options = plain();
  options.correction = 1;
  const auto result = detect_shared_classes(input, options);
  EXPECT_EQ(result.classes, (Labels{0, 1}));
  // log p less the mean of its lower half: class 0 log 19, class 2 log 1 in the first group.
  EXPECT_NEAR(result.evidence[0][0].item<double>(), 19.0 / 21, 1e-6);
  EXPECT_NEAR(result.evidence[0][2].item<double>(), 1.0 / 21, 1e-6);
}

TEST(ClusterMassTest, EarlierStepsAddToTheBackground) {
  // All images alike: within the step nothing tells class 1 from its background.
  auto input = input_of({{4}, {{0.3, 0.7}}});
  auto options = plain();
  options.correction = 1;
  EXPECT_EQ(detect_shared_classes(input, options).evidence[0][0].item<double>(), 0.5);
  // Four images of an earlier step gave class 0 0.1 and class 1 0.7.
  input.background = ClassBackground::restore({4 * std::log(0.1), 4 * std::log(0.7)}, {4, 4});
  const auto result = detect_shared_classes(input, options);
  // Mean log of 0.3 and 0.1 is log sqrt(0.03): evidence 0.3 / sqrt(0.03) = sqrt(3) against 1.
  EXPECT_NEAR(result.evidence[0][0].item<double>(), std::sqrt(3.0) / (1 + std::sqrt(3.0)), 1e-6);
  EXPECT_EQ(result.classes, (Labels{0}));
}

TEST(ClusterMassTest, FactorsMakeClassesLessLikely) {
  auto input = input_of({{5, 5}, {{0.6, 0.0, 0.4}, {0.0, 0.9, 0.1}}});
  EXPECT_EQ(detect_shared_classes(input, plain()).classes, (Labels{0, 1}));
  input.class_factors = {0.03, 1, 1};
  EXPECT_EQ(detect_shared_classes(input, plain()).classes, (Labels{1, 2}));
}

TEST(ClusterMassTest, NeighboursOutvoteASingleMistake) {
  auto input = input_of({{8, 8}, {{0.9, 0.1}, {0.1, 0.9}}});
  input.probabilities[0] = torch::tensor({0.2, 0.8}, torch::kFloat64);
  auto options = plain();
  options.neighbours = 3;
  // (0.2 + 3 * 0.9) / 4.
  EXPECT_NEAR(detect_shared_classes(input, options).evidence[0][0].item<double>(), 0.725, 1e-6);
}

TEST(ClusterMassTest, RefusesOptionsOutOfRange) {
  const auto input = input_of({{2}, {{0.5, 0.5}}});
  for (const auto& change : std::vector<void (*)(DetectionOptions&)>{
           [](DetectionOptions& options) { options.correction = 1.1; },
           [](DetectionOptions& options) { options.correction = NAN; },
           [](DetectionOptions& options) { options.neighbours = -1; },
           [](DetectionOptions& options) { options.candidate_share = 1; },
           [](DetectionOptions& options) { options.least_mass = -0.1; }}) {
    auto options = plain();
    change(options);
    EXPECT_THROW(detect_shared_classes(input, options), InvalidOption);
  }
}

}  // namespace
}  // namespace proca::adaptation
