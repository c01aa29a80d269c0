#include "losses/weighted.h"

#include <cmath>

#include "proca/losses/cross_entropy.h"
#include "support/gradcheck.h"

namespace proca::losses {
namespace {

torch::Tensor doubles(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

torch::Tensor two_rows_of_logits() {
  // softmax is (1/4, 3/4) and (2/3, 1/3).
  return torch::tensor({{0.0, std::log(3.0)}, {std::log(2.0), 0.0}}, torch::kFloat64);
}

TEST(CrossEntropyEachTest, MatchesHandComputedValues) {
  const auto each = cross_entropy_each(two_rows_of_logits(), torch::tensor({1, 1}));
  EXPECT_TRUE(torch::allclose(each, doubles({std::log(4.0 / 3), std::log(3.0)}), 0, 1e-12));
}

TEST(CrossEntropyEachTest, NoLabelIsIgnoredAndEveryImageHasOne) {
  EXPECT_THROW(cross_entropy_each(two_rows_of_logits(), torch::tensor({-100, 0})), c10::Error);
  EXPECT_THROW(cross_entropy_each(two_rows_of_logits(), torch::tensor({0})), c10::Error);
}

TEST(EntropyEachTest, MatchesHandComputedValues) {
  const auto each = entropy_each(two_rows_of_logits());
  const auto expected = doubles(
      {std::log(4.0) / 4 + 0.75 * std::log(4.0 / 3), 2.0 / 3 * std::log(1.5) + std::log(3.0) / 3});
  EXPECT_TRUE(torch::allclose(each, expected, 0, 1e-12)) << each;
}

TEST(EntropyEachTest, IsZeroAndHasAGradientWhereTheNetworkIsCertain) {
  const auto logits = torch::tensor({{1e4F, 0.0F, -1e4F}}).set_requires_grad(true);
  const auto entropy = entropy_each(logits);
  EXPECT_EQ(entropy.item<float>(), 0.0F);
  entropy.sum().backward();
  EXPECT_TRUE(torch::isfinite(logits.grad()).all().item<bool>());
}

TEST(EntropyEachTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  test::expect_gradient_matches([](const torch::Tensor& x) { return entropy_each(x).sum(); },
                                torch::randn({3, 4}, torch::kFloat64));
}

TEST(BinaryCrossEntropyEachTest, MatchesHandComputedValues) {
  const auto logits = doubles({std::log(3.0), 0.0});  // probabilities 3/4 and 1/2
  EXPECT_TRUE(torch::allclose(binary_cross_entropy_each(logits, 1),
                              doubles({std::log(4.0 / 3), std::log(2.0)}), 0, 1e-12));
  EXPECT_TRUE(torch::allclose(binary_cross_entropy_each(logits, 0),
                              doubles({std::log(4.0), std::log(2.0)}), 0, 1e-12));
}

TEST(BinaryCrossEntropyEachTest, LargeLogitsDoNotOverflow) {
  const auto logits = torch::tensor({1e4F, -1e4F});
  EXPECT_TRUE(torch::equal(binary_cross_entropy_each(logits, 0), torch::tensor({1e4F, 0.0F})));
  EXPECT_TRUE(torch::equal(binary_cross_entropy_each(logits, 1), torch::tensor({0.0F, 1e4F})));
}

TEST(BinaryCrossEntropyEachTest, GradientMatchesFiniteDifferences) {
  for (const double target : {0.0, 1.0}) {
    test::expect_gradient_matches(
        [&](const torch::Tensor& x) { return binary_cross_entropy_each(x, target).sum(); },
        doubles({-2, 0.5, 3}));
  }
}

TEST(WeightedReductionTest, DividesByTheWeightsOrByTheImages) {
  const auto values = doubles({2, 10}), weights = doubles({1, 3});
  EXPECT_NEAR(average_by_weight(values, weights).item<double>(), 32.0 / 4, 1e-7);  // 1e-8 below
  EXPECT_EQ(mean_of_weighted(values, weights).item<double>(), 32.0 / 2);
}

TEST(WeightedReductionTest, NoWeightAndNoImageGiveZero) {
  const auto zeros = torch::zeros({2}), none = torch::zeros({0});
  const auto values = torch::ones({2}).set_requires_grad(true);
  const auto loss = average_by_weight(values, zeros);
  loss.backward();
  EXPECT_EQ(loss.item<float>(), 0.0F);
  EXPECT_TRUE(torch::equal(values.grad(), zeros));
  EXPECT_EQ(average_by_weight(none, none).item<float>(), 0.0F);
  EXPECT_EQ(mean_of_weighted(none, none).item<float>(), 0.0F);
}

TEST(WeightedReductionTest, TheSumOfTheWeightsIsAConstant) {
  const auto weights = doubles({1, 3}).set_requires_grad(true);
  average_by_weight(doubles({2, 10}), weights).backward();
  // d/dw_j (sum w v) / 4 = v_j / 4; with the sum differentiated it would add up to zero.
  EXPECT_TRUE(torch::allclose(weights.grad(), doubles({0.5, 2.5}), 0, 1e-7));
}

TEST(WeightedReductionTest, RefusesShapesThatOnlyBroadcast) {
  EXPECT_THROW(average_by_weight(torch::ones({3}), torch::ones({1})), c10::Error);
  EXPECT_THROW(mean_of_weighted(torch::ones({3, 1}), torch::ones({3, 1})), c10::Error);
}

TEST(WeightedCrossEntropyTest, MatchesHandComputedValue) {
  const auto loss =
      weighted_cross_entropy(two_rows_of_logits(), torch::tensor({1, 1}), doubles({1, 3}));
  EXPECT_NEAR(loss.item<double>(), (std::log(4.0 / 3) + 3 * std::log(3.0)) / 4, 1e-8);
}

TEST(WeightedCrossEntropyTest, EqualWeightsGiveTheMean) {
  const auto labels = torch::tensor({0, 1});
  EXPECT_NEAR(
      weighted_cross_entropy(two_rows_of_logits(), labels, doubles({0.5, 0.5})).item<double>(),
      cross_entropy(two_rows_of_logits(), labels).item<double>(), 1e-7);
}

TEST(WeightedCrossEntropyTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  const auto labels = torch::tensor({0, 2, 1});
  test::expect_gradient_matches(
      [&](const torch::Tensor& x) {
        return weighted_cross_entropy(x, labels, doubles({0.5, 0, 2}));
      },
      torch::randn({3, 3}, torch::kFloat64));
}

}  // namespace
}  // namespace proca::losses
