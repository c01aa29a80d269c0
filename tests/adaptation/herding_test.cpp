#include "adaptation/herding.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "adaptation/golden_cases.h"
#include "proca/core/error.h"

namespace proca::adaptation {
namespace {

using Features = HerdingOptions::Features;
using Repeats = HerdingOptions::Repeats;
using Indexes = std::vector<int64_t>;

const HerdingOptions kRawIfNeeded = {.features = Features::kRaw, .repeats = Repeats::kIfNeeded};

torch::Tensor column(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).unsqueeze(1);
}

TEST(HerdingTest, FollowsTheMeanByHand) {
  // Mean 3. First |3 - x|: 3 is nearest. Then |3 - (3 + x)/2|: 3 again (0), else 2
  // (0.5). Then |3 - (5 + x)/3| for those left, 0 and 7: 4/3 and 1, so 7; then 0.
  const auto features = column({0, 2, 3, 7});
  EXPECT_EQ(herd(features, 4, kRawIfNeeded), (Indexes{2, 1, 3, 0}));
  EXPECT_EQ(herd(features, 3, {.features = Features::kRaw}), (Indexes{2, 2, 2}));
}

TEST(HerdingTest, UnitFeaturesIgnoreLengths) {
  // Directions (1,0), (0,1), (0,1); their mean (1/3, 2/3). First an upward one; the
  // sum wanted of two is (2/3, 4/3), which leaves (2/3, 1/3): the sideward one.
  const auto features = test::matrix({{100, 0}, {0, 0.01}, {0, 5}});
  EXPECT_EQ(herd(features, 3), (Indexes{1, 0, 1}));
  EXPECT_EQ(herd(features, 3, {.repeats = Repeats::kIfNeeded}), (Indexes{1, 0, 2}));
}

TEST(HerdingTest, TiesGoToTheSmallerIndex) {
  EXPECT_EQ(herd(column({5, 5, 5}), 3, {.features = Features::kRaw}), (Indexes{0, 0, 0}));
  EXPECT_EQ(herd(column({5, 5, 5}), 3, kRawIfNeeded), (Indexes{0, 1, 2}));
}

TEST(HerdingTest, TwoImagesAreEquallyFarFromTheirMeanWhateverTheRounding) {
  torch::manual_seed(5);
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(herd(torch::rand({2, 33}), 4), (Indexes{0, 1, 0, 1}));
  }
}

TEST(HerdingTest, RepeatsOnlyAfterAllWereChosenEquallyOften) {
  torch::manual_seed(6);
  const auto chosen = herd(torch::rand({5, 4}), 17, kRawIfNeeded);
  ASSERT_EQ(chosen.size(), 17u);
  for (size_t begin = 0; begin + 5 <= chosen.size(); begin += 5) {
    Indexes block(chosen.begin() + static_cast<int64_t>(begin),
                  chosen.begin() + static_cast<int64_t>(begin + 5));
    std::sort(block.begin(), block.end());
    EXPECT_EQ(block, (Indexes{0, 1, 2, 3, 4}));
  }
}

TEST(HerdingTest, ShorterChoicesArePrefixes) {
  torch::manual_seed(7);
  const auto features = torch::rand({30, 8});
  auto longer = herd(features, 12);
  longer.resize(5);
  EXPECT_EQ(herd(features, 5), longer);
}

TEST(HerdingTest, NothingToChooseOrNothingToChooseFromGivesNothing) {
  EXPECT_TRUE(herd(torch::zeros({0, 4}), 10).empty());
  EXPECT_TRUE(herd(torch::ones({3, 4}), 0).empty());
  EXPECT_EQ(herd(torch::ones({1, 4}), 3), (Indexes{0, 0, 0}));
  EXPECT_EQ(herd(torch::zeros({2, 4}), 2), (Indexes{0, 0}));  // without a direction
}

TEST(HerdingTest, RefusesFeaturesThatAreNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto features = torch::ones({3, 4});
    features[1][2] = bad;
    EXPECT_THROW(herd(features, 2), Error);
  }
}

TEST(HerdingTest, MatchesTheReference) {
  for (const auto& example : test::golden_cases("herding")) {
    const auto features = test::matrix(example.at("features"));
    for (const auto& [name, expected] : example.at("chosen").items()) {
      const HerdingOptions options = {
          .features = name.starts_with("unit") ? Features::kUnit : Features::kRaw,
          .repeats = name.ends_with("allowed") ? Repeats::kAllowed : Repeats::kIfNeeded};
      EXPECT_EQ(herd(features, example.at("count").get<int64_t>(), options),
                expected.get<Indexes>())
          << name;
    }
  }
}

/// The formula as it is written in the header.
Indexes herd_naively(const torch::Tensor& features, int64_t count) {
  const auto mean = features.mean(0);
  auto sum = torch::zeros_like(mean);
  Indexes chosen;
  for (int64_t m = 1; m <= count; ++m) {
    const auto distances = (mean - (features + sum) / m).norm(2, 1);
    chosen.push_back(distances.argmin().item<int64_t>());
    sum = sum + features[chosen.back()];
  }
  return chosen;
}

TEST(HerdingTest, MatchesTheFormulaOnManyRandomInputs) {
  torch::manual_seed(8);
  for (int64_t round = 0; round < 100; ++round) {
    const auto features = torch::rand({5 + round, 1 + round % 40}, torch::kFloat64);
    EXPECT_EQ(herd(features, 10, {.features = Features::kRaw}), herd_naively(features, 10))
        << round;
    const auto unit = features / features.norm(2, 1, true);
    if (features.size(1) > 1) {  // else all directions are one
      EXPECT_EQ(herd(features, 10), herd_naively(unit, 10)) << round;
    }
  }
}

}  // namespace
}  // namespace proca::adaptation
