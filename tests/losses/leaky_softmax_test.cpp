#include "losses/leaky_softmax.h"

#include <cmath>

#include "support/gradcheck.h"

namespace proca::losses {
namespace {

// exp(z) is 1 and 2, and K + 1 + 2 = 5: p = (1/5, 2/5), d = 3/5.
torch::Tensor fifths() { return torch::tensor({{0.0, std::log(2.0)}}, torch::kFloat64); }

TEST(LeakySoftmaxTest, MatchesHandComputedValues) {
  EXPECT_TRUE(torch::allclose(leaky_log_softmax(fifths()).exp(),
                              torch::tensor({{0.2, 0.4}}, torch::kFloat64), 0, 1e-12));
  EXPECT_NEAR(torch::sigmoid(leaky_domain_logits(fifths())).item<double>(), 0.6, 1e-12);
}

TEST(LeakyCrossEntropyTest, MatchesHandComputedValue) {
  // -log(2/5) - log(1 - 1/5) = log(5/2 * 5/4)
  EXPECT_NEAR(leaky_cross_entropy(fifths(), torch::tensor({1})).item<double>(), std::log(25.0 / 8),
              1e-12);
}

TEST(LeakyCrossEntropyTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  const auto labels = torch::tensor({0, 2, 1});
  test::expect_gradient_matches(
      [&](const torch::Tensor& x) { return leaky_cross_entropy(x, labels); },
      torch::randn({3, 3}, torch::kFloat64));
}

TEST(LeakyCrossEntropyTest, LargeLogitsGiveFiniteNumbers) {
  for (const float size : {30.0F, 1e4F}) {
    const auto logits = torch::tensor({{size, 0.0F}, {-size, -size}}).set_requires_grad(true);
    const auto loss =
        leaky_cross_entropy(logits, torch::tensor({1, 0})) + leaky_domain_logits(logits).sum();
    loss.backward();
    EXPECT_TRUE(torch::isfinite(loss).item<bool>()) << size;
    EXPECT_TRUE(torch::isfinite(logits.grad()).all().item<bool>()) << size;
  }
}

TEST(LeakyCrossEntropyTest, EmptyBatchGivesZeroAndOneClassWorks) {
  EXPECT_EQ(
      leaky_cross_entropy(torch::zeros({0, 3}), torch::zeros({0}, torch::kInt64)).item<float>(),
      0.0F);
  // p = 1 / (1 + 1)
  EXPECT_NEAR(
      leaky_cross_entropy(torch::zeros({1, 1}, torch::kFloat64), torch::tensor({0})).item<double>(),
      std::log(2.0), 1e-12);
}

TEST(InstanceWeightsTest, MatchHandComputedValuesAndAreConstants) {
  // d = 3/5 and 1/5, 1 - d = 0.4 and 0.8, their mean 0.6.
  const auto logits = torch::tensor({std::log(1.5), std::log(0.25)}, torch::kFloat64);
  const auto weights = instance_weights(logits.set_requires_grad(true));
  EXPECT_TRUE(
      torch::allclose(weights, torch::tensor({2.0 / 3, 4.0 / 3}, torch::kFloat64), 0, 1e-9));
  EXPECT_FALSE(weights.requires_grad());
}

TEST(InstanceWeightsTest, AreFiniteWhenEveryImageIsSourceForCertain) {
  const auto weights = instance_weights(torch::full({3}, 1e4F));
  EXPECT_TRUE(torch::equal(weights, torch::zeros({3})));
}

}  // namespace
}  // namespace proca::losses
