#include "losses/complement_entropy.h"

#include <cmath>

#include "support/gradcheck.h"

namespace proca::losses {
namespace {

torch::Tensor ones(int64_t count) { return torch::ones({count}, torch::kFloat64); }

// Two images with the label 0. Of the first, 1/2 is left for the others, 3 : 1; of the
// second, 1/5, in equal parts.
torch::Tensor two_images() {
  return torch::tensor({{0.5, 0.375, 0.125}, {0.8, 0.1, 0.1}}, torch::kFloat64).log();
}
torch::Tensor labels() { return torch::tensor({0, 0}); }
// (3/4 log 3/4 + 1/4 log 1/4) / log 2; the second's is -1.
const double kFirst = (0.75 * std::log(0.75) + 0.25 * std::log(0.25)) / std::log(2.0);

TEST(ComplementEntropyTest, MatchesHandComputedValue) {
  // Weights 1/2 and 1/5. The 1e-7 in the formula moves the result by about as much.
  EXPECT_NEAR(complement_entropy(two_images(), labels(), ones(2)).item<double>(),
              (0.5 * kFirst - 0.2) / 0.7, 2e-6);
}

TEST(ComplementEntropyTest, ClassWeightsMultiply) {
  const auto weights = torch::tensor({1.0, 3.0}, torch::kFloat64);
  EXPECT_NEAR(complement_entropy(two_images(), labels(), weights).item<double>(),
              (0.5 * kFirst - 0.6) / 1.1, 2e-6);
}

TEST(ComplementEntropyTest, OfOneImageTheGradientMatchesFiniteDifferences) {
  // Of one image, since the weights, which are constants, then cancel out.
  torch::manual_seed(0);
  const auto label = torch::tensor({2});
  test::expect_gradient_matches(
      [&](const torch::Tensor& x) { return complement_entropy(x, label, ones(1)); },
      torch::randn({1, 4}, torch::kFloat64));
}

TEST(ComplementEntropyTest, WeightsAreConstants) {
  const auto gradient = [](const torch::Tensor& logits) {
    const auto x = logits.detach().clone().set_requires_grad(true);
    const auto labels = torch::zeros({logits.size(0)}, torch::kInt64);
    complement_entropy(x, labels, ones(logits.size(0))).backward();
    return x.grad();
  };
  const auto logits = two_images();
  // The gradients of the images alone, in the proportion 5 : 2.
  const auto expected = torch::cat(
      {gradient(logits.narrow(0, 0, 1)) * 5 / 7, gradient(logits.narrow(0, 1, 1)) * 2 / 7});
  EXPECT_TRUE(torch::allclose(gradient(logits), expected, 0, 1e-9));
}

TEST(ComplementEntropyTest, FlatWrongClassesGiveMinusOneAndNoGradientAmongThem) {
  const auto logits = torch::zeros({1, 5}, torch::kFloat64).set_requires_grad(true);
  const auto loss = complement_entropy(logits, torch::tensor({3}), ones(1));
  EXPECT_NEAR(loss.item<double>(), -1, 1e-6);
  loss.backward();
  EXPECT_NEAR(logits.grad().abs().max().item<double>(), 0, 1e-6);  // 1e-7 in the formula
}

TEST(ComplementEntropyTest, ACertainNetworkGivesFiniteNumbers) {
  const auto logits = torch::tensor({{1e4F, 0.0F, 0.0F}, {50.0F, 0.0F, 1.0F}});
  const auto x = logits.clone().set_requires_grad(true);
  const auto loss = complement_entropy(x, torch::tensor({0, 0}), torch::ones({2}));
  loss.backward();
  EXPECT_TRUE(torch::isfinite(loss).item<bool>());
  EXPECT_TRUE(torch::isfinite(x.grad()).all().item<bool>());
  // Wrong for certain: the wrong class has all of the rest.
  EXPECT_NEAR(complement_entropy(logits, torch::tensor({1, 1}), torch::ones({2})).item<float>(), 0,
              1e-5);
}

TEST(ComplementEntropyTest, IsZeroWhereThereIsNothingToFlatten) {
  for (const int64_t num_classes : {1, 2}) {
    const auto logits = torch::randn({2, num_classes}).set_requires_grad(true);
    const auto loss = complement_entropy(logits, torch::tensor({0, 0}), torch::ones({2}));
    loss.backward();
    EXPECT_EQ(loss.item<float>(), 0.0F) << num_classes;
  }
  EXPECT_EQ(
      complement_entropy(torch::zeros({0, 3}), torch::zeros({0}, torch::kInt64), torch::zeros({0}))
          .item<float>(),
      0.0F);
  EXPECT_EQ(complement_entropy(two_images(), labels(), ones(2) * 0).item<double>(), 0.0);
}

TEST(ComplementEntropyTest, RefusesShapesThatDoNotMatch) {
  EXPECT_THROW(complement_entropy(two_images(), labels(), ones(1)), c10::Error);
  EXPECT_THROW(complement_entropy(two_images(), torch::tensor({0}), ones(1)), c10::Error);
}

}  // namespace
}  // namespace proca::losses
