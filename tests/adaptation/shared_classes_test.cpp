#include "proca/adaptation/shared_classes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "adaptation/detection/detection_rules.h"
#include "adaptation/golden_cases.h"
#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::adaptation {
namespace {

using test::matrix;
using Classes = std::vector<int64_t>;
using GroupWeights = DetectionOptions::GroupWeights;

torch::Tensor uniform_prior(int64_t num_classes) {
  return torch::full({num_classes}, 1.0 / static_cast<double>(num_classes), torch::kFloat64);
}

SharedClasses detect(const torch::Tensor& probabilities, const DetectionOptions& options) {
  return detect_shared_classes({.probabilities = probabilities,
                                .source_prior = uniform_prior(probabilities.size(1)),
                                .features = probabilities},
                               options);
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected,
                 double tolerance = 1e-12) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
}

TEST(DetectSharedClassesTest, CumulativeProbabilitiesSpanZeroToOne) {
  // Sums 1.0, 0.6, 0.4; less the smallest 0.6, 0.2, 0; by the range 1, 1/3, 0.
  expect_near(detect(matrix({{0.7, 0.2, 0.1}, {0.3, 0.4, 0.3}}), {}).cumulative,
              {1.0, 1.0 / 3, 0.0});
}

TEST(DetectSharedClassesTest, EqualClassesAreAllOne) {
  expect_near(detect(torch::full({3, 4}, 0.25), {}).cumulative, {1, 1, 1, 1}, 0);
  expect_near(detect(torch::ones({3, 1}), {}).cumulative, {1}, 0);
}

TEST(ScdTest, KeepsClassesFromAlphaOn) {
  // Normalised 1, 0.5, 0.25, 0.
  const auto probabilities = matrix({{4, 2, 1, 0}});
  const auto at = [&](double alpha) { return detect(probabilities, {.alpha = alpha}).classes; };
  EXPECT_EQ(at(0.25), (Classes{0, 1, 2}));
  EXPECT_EQ(at(0.26), (Classes{0, 1}));
  EXPECT_EQ(at(1), (Classes{0}));
  EXPECT_EQ(at(0), (Classes{0, 1, 2, 3}));
  const auto result = detect(probabilities, {.alpha = 0.3});
  expect_near(result.cumulative, {1, 0.5, 0.25, 0});
  EXPECT_EQ(result.scores, result.cumulative);
  EXPECT_EQ(result.threshold, 0.3);
}

TEST(HbwTest, CutsWhereTheVarianceBetweenTheGroupsIsLargest) {
  // Sums, sorted: 10 8 2 0. By count: r = 1: 3/16 (10 - 10/3)^2 = 8.33; r = 2:
  // 1/4 (9 - 1)^2 = 16; r = 3: 3/16 (20/3)^2 = 8.33.
  const auto probabilities = matrix({{2, 10, 0, 8}});
  const auto result = detect(probabilities, {.rule = "hbw"});
  EXPECT_EQ(result.classes, (Classes{1, 3}));
  expect_near(result.scores, {0.2, 1, 0, 0.8});
  EXPECT_DOUBLE_EQ(result.threshold, 0.8);
}

TEST(HbwTest, MassWeightsCutEarlier) {
  // Sums, sorted: 6 5 1 0. By count r = 2: 1/4 (5.5 - 0.5)^2 = 6.25, r = 1: 3/16 (6 - 2)^2 = 3. By
  // mass r = 1: 1/2 1/2 (6 - 2)^2 = 4, r = 2: 11/12 1/12 (5.5 - 0.5)^2 = 1.91.
  const auto probabilities = matrix({{0, 5, 6, 1}});
  const auto with = [&](GroupWeights weights) {
    return detect(probabilities, {.rule = "hbw", .hbw_weights = weights}).classes;
  };
  EXPECT_EQ(with(GroupWeights::kCount), (Classes{1, 2}));
  EXPECT_EQ(with(GroupWeights::kMass), (Classes{2}));
}

TEST(HbwTest, TiesGoToTheSmallestCut) {
  // 3 2 1: r = 1: 2/9 1.5^2 and r = 2: 2/9 1.5^2.
  EXPECT_EQ(detect(matrix({{1, 3, 2}}), {.rule = "hbw"}).classes, (Classes{1}));
  EXPECT_EQ(detect(matrix({{0.1, 0.3, 0.2}}), {.rule = "hbw"}).classes, (Classes{1}));
  // All equal: every variance is 0.
  for (const auto weights : {GroupWeights::kCount, GroupWeights::kMass}) {
    EXPECT_EQ(detect(torch::full({7, 6}, 1.0 / 6), {.rule = "hbw", .hbw_weights = weights}).classes,
              (Classes{0}));
  }
}

/// V(r) as it is written, for every r; the smallest of the best.
size_t naive_cut(std::vector<double> sums) {
  std::sort(sums.rbegin(), sums.rend());
  const auto count = static_cast<double>(sums.size());
  size_t best = 1;
  double best_variance = -1;
  for (size_t r = 1; r < sums.size(); ++r) {
    double positive = 0;
    double negative = 0;
    for (size_t k = 0; k < sums.size(); ++k) (k < r ? positive : negative) += sums[k];
    const auto size = static_cast<double>(r);
    const double difference = positive / size - negative / (count - size);
    const double variance = size / count * (1 - size / count) * difference * difference;
    if (variance > best_variance) {
      best = r;
      best_variance = variance;
    }
  }
  return best;
}

TEST(HbwTest, MatchesTheFormulaOnManyRandomInputs) {
  torch::manual_seed(10);
  for (int64_t round = 0; round < 200; ++round) {
    const auto probabilities =
        torch::softmax(3 * torch::randn({20, 2 + round % 30}, torch::kFloat64), 1);
    const auto sums = probabilities.sum(0);
    const auto cut = naive_cut({sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel()});
    EXPECT_EQ(detect(probabilities, {.rule = "hbw"}).classes.size(), cut) << round;
  }
}

TEST(LabelShiftTest, RecoversAKnownPrior) {
  // One of two signals is seen. Signal A is 4 times as likely under class 0 as under
  // class 1: (0.8, 0.2); signal B (0.2, 0.8). With equal source shares the classifier
  // says 0.8/0.2 at A and 0.2/0.8 at B. A target with share 0.9 of class 0 shows A in
  // 0.9 * 0.8 + 0.1 * 0.2 = 0.74 of its images: the likeliest share is 0.9.
  std::vector<std::vector<double>> rows(74, {0.8, 0.2});
  rows.resize(100, {0.2, 0.8});
  // 1e-5: rounds end when no share moves by more than 1e-6.
  expect_near(estimate_label_shift(matrix(rows), uniform_prior(2), 1), {0.9, 0.1}, 1e-5);
  // At temperature 2 a classifier that says 0.8^2 : 0.2^2 counts the same.
  for (auto& row : rows) row = {row[0] * row[0] / 0.68, row[1] * row[1] / 0.68};
  expect_near(estimate_label_shift(matrix(rows), uniform_prior(2), 2), {0.9, 0.1}, 1e-5);
}

TEST(LabelShiftTest, AccountsForTheSourcePrior) {
  // The signals of the test above, source shares 1/4 and 3/4: at A the classifier says
  // 0.8/4 : 0.2*3/4 = 4 : 3, at B 0.2/4 : 0.8*3/4 = 1 : 12.
  std::vector<std::vector<double>> rows(74, {4.0 / 7, 3.0 / 7});
  rows.resize(100, {1.0 / 13, 12.0 / 13});
  const auto prior = torch::tensor({0.25, 0.75}, torch::kFloat64);
  expect_near(estimate_label_shift(matrix(rows), prior, 1), {0.9, 0.1}, 1e-5);
  // Only the proportions of the prior matter.
  expect_near(estimate_label_shift(matrix(rows), prior * 40, 1), {0.9, 0.1}, 1e-5);
}

TEST(LabelShiftTest, ClassesWithoutSourceImagesKeepNoShare) {
  const auto prior = torch::tensor({0.5, 0.5, 0.0}, torch::kFloat64);
  const auto shares = estimate_label_shift(matrix({{0.1, 0.1, 0.8}, {0.2, 0.2, 0.6}}), prior, 2);
  expect_near(shares, {0.5, 0.5, 0});
  // An image of that class alone says nothing about the others.
  expect_near(estimate_label_shift(matrix({{0, 0, 1}, {1, 0, 0}}), prior, 2), {1, 0, 0}, 1e-5);
}

TEST(LabelShiftTest, KeepsSharesAboveOneOutOfK) {
  const auto result = detect(matrix({{0.9, 0.1, 0}, {0.9, 0.1, 0}, {0, 0.1, 0.9}}),
                             {.rule = "label-shift", .temperature = 1});
  EXPECT_EQ(result.classes, (Classes{0}));
  EXPECT_DOUBLE_EQ(result.threshold, 1.0 / 3);
  EXPECT_GT(result.scores[0], 0.6);
}

TEST(LabelShiftTest, RefusesAPriorThatIsNone) {
  const auto probabilities = torch::full({2, 2}, 0.5);
  EXPECT_THROW(estimate_label_shift(probabilities, torch::zeros({2}), 2), Error);
  EXPECT_THROW(estimate_label_shift(probabilities, torch::tensor({-1.0, 2.0}), 2), Error);
  EXPECT_THROW(estimate_label_shift(probabilities, torch::tensor({NAN, 1.0F}), 2), Error);
  EXPECT_THROW(estimate_label_shift(probabilities, torch::ones({3}), 2), c10::Error);
  EXPECT_THROW(estimate_label_shift(probabilities, {}, 2), c10::Error);
}

TEST(DetectSharedClassesTest, TheHighestScoreIsKeptWhenARuleKeepsNothing) {
  // No share exceeds 1/K when all are equal, or when there is only one.
  EXPECT_EQ(detect(torch::full({4, 3}, 1.0 / 3), {.rule = "label-shift"}).classes, (Classes{0}));
  EXPECT_EQ(detect(torch::ones({4, 1}), {.rule = "label-shift"}).classes, (Classes{0}));
}

TEST(DetectSharedClassesTest, EveryRuleWorksWithOneClassAndEqualClasses) {
  for (const auto& rule : detection_rules()) {
    const DetectionOptions options = {.rule = std::string(rule.name)};
    const auto one = detect(torch::ones({2, 1}), options);
    EXPECT_EQ(one.classes, (Classes{0})) << rule.name;
    EXPECT_EQ(one.scores.size(), 1u) << rule.name;
    const auto equal = detect(torch::full({2, 4}, 0.25), options);
    EXPECT_FALSE(equal.classes.empty()) << rule.name;
    EXPECT_EQ(equal.cumulative, (std::vector<double>{1, 1, 1, 1})) << rule.name;
    EXPECT_FALSE(rule.summary.empty()) << rule.name;
  }
  EXPECT_EQ(detect(torch::full({2, 4}, 0.25), {}).classes, (Classes{0, 1, 2, 3}));
  EXPECT_EQ(detect(matrix({{1, 0, 0}}), {.rule = "none"}).classes, (Classes{0, 1, 2}));
}

TEST(DetectSharedClassesTest, EveryRuleRefusesNoImageAndBadProbabilities) {
  for (const auto& rule : detection_rules()) {
    const DetectionOptions options = {.rule = std::string(rule.name)};
    EXPECT_THROW(detect(torch::zeros({0, 3}), options), InputError) << rule.name;
    for (const float bad : {NAN, std::numeric_limits<float>::infinity(), -0.1F}) {
      auto probabilities = torch::full({5, 3}, 0.3F);
      probabilities[3][1] = bad;
      const auto message = test::message_of<Error>([&] { detect(probabilities, options); });
      EXPECT_NE(message.find("image 3"), std::string::npos) << rule.name << ": " << message;
    }
  }
}

TEST(DetectionOptionsTest, UnknownRuleSuggestsTheNearest) {
  const auto message_for = [](const std::string& rule) {
    return test::message_of<InvalidOption>([&] { DetectionOptions{.rule = rule}.validate(); });
  };
  EXPECT_NE(message_for("label_shfit").find("did you mean 'label-shift'?"), std::string::npos);
  EXPECT_NE(message_for("hbv").find("did you mean 'hbw'?"), std::string::npos);
  EXPECT_EQ(message_for("magic").find("did you mean"), std::string::npos);
  EXPECT_NE(message_for("magic").find("scd, hbw, label-shift, cluster-mass, none"),
            std::string::npos);
}

TEST(DetectionOptionsTest, NamesTheFieldOutOfRange) {
  for (const double alpha : {-0.1, 1.1, std::nan("")}) {
    const auto message =
        test::message_of<InvalidOption>([&] { DetectionOptions{.alpha = alpha}.validate(); });
    EXPECT_NE(message.find("alpha"), std::string::npos) << message;
  }
  for (const double temperature :
       {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto message = test::message_of<InvalidOption>(
        [&] { DetectionOptions{.temperature = temperature}.validate(); });
    EXPECT_NE(message.find("temperature"), std::string::npos) << message;
  }
  EXPECT_NO_THROW((DetectionOptions{.rule = "hbw", .alpha = 1, .temperature = 0.1}.validate()));
}

TEST(DetectSharedClassesTest, MatchesTheReference) {
  for (const auto& example : test::golden_cases("detection")) {
    const auto prior = example.at("prior").get<std::vector<double>>();
    const DetectionInput input = {matrix(example.at("probabilities")),
                                  torch::tensor(prior, torch::kFloat64)};
    for (const auto& [name, expected] : example.at("results").items()) {
      const DetectionOptions options = {
          .rule = name.substr(0, name.find(' ')),
          .alpha = example.at("alpha").get<double>(),
          .hbw_weights = name == "hbw mass" ? GroupWeights::kMass : GroupWeights::kCount,
          .temperature = example.at("temperature").get<double>()};
      const auto result = detect_shared_classes(input, options);
      EXPECT_EQ(result.classes, expected.at("classes").get<Classes>()) << name;
      expect_near(result.cumulative, example.at("cumulative"), 1e-9);
      if (name == "none") continue;
      expect_near(result.scores, expected.at("scores"), 1e-9);
      EXPECT_NEAR(result.threshold, expected.at("threshold").get<double>(), 1e-9) << name;
    }
  }
}

}  // namespace
}  // namespace proca::adaptation
