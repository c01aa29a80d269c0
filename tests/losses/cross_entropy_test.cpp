#include "proca/losses/cross_entropy.h"

#include <cmath>

#include "support/gradcheck.h"

namespace proca::losses {
namespace {

torch::Tensor logits_of_thirds() {
  // softmax is (1/4, 3/4) and (2/3, 1/3).
  return torch::tensor({{0.0, std::log(3.0)}, {std::log(2.0), 0.0}}, torch::kFloat64);
}

TEST(CrossEntropyTest, MatchesHandComputedValue) {
  // (-log 3/4 - log 1/3) / 2 = log(4/3 * 3) / 2 = log(4) / 2 = log 2
  const auto loss = cross_entropy(logits_of_thirds(), torch::tensor({1, 1}));
  EXPECT_NEAR(loss.item<double>(), std::log(2.0), 1e-12);
  EXPECT_EQ(loss.dim(), 0);
}

TEST(CrossEntropyTest, LargeLogitsDoNotOverflow) {
  const auto logits = torch::tensor({{1e4F, 0.0F}});
  EXPECT_EQ(cross_entropy(logits, torch::tensor({0})).item<float>(), 0.0F);
  EXPECT_EQ(cross_entropy(logits, torch::tensor({1})).item<float>(), 1e4F);
}

TEST(CrossEntropyTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  const auto labels = torch::tensor({0, 2, 2, 1});
  test::expect_gradient_matches([&](const torch::Tensor& x) { return cross_entropy(x, labels); },
                                torch::randn({4, 3}, torch::kFloat64));
}

TEST(CrossEntropyTest, EmptyBatchGivesZeroThatCanBeTrainedOn) {
  const auto logits = torch::zeros({0, 3}, torch::kFloat64).set_requires_grad(true);
  const auto loss = cross_entropy(logits, torch::zeros({0}, torch::kInt64));
  EXPECT_EQ(loss.item<double>(), 0.0);
  EXPECT_EQ(loss.scalar_type(), torch::kFloat64);
  loss.backward();
  EXPECT_EQ(logits.grad().numel(), 0);
}

TEST(CrossEntropyTest, OneClassGivesZero) {
  const auto logits = torch::tensor({{3.0}, {-5.0}}, torch::kFloat64);
  EXPECT_EQ(cross_entropy(logits, torch::tensor({0, 0})).item<double>(), 0.0);
}

TEST(CrossEntropyTest, NoLabelIsIgnored) {
  // -100 is the label that LibTorch leaves out by default.
  for (const int64_t label : {-100, -1, 2}) {
    EXPECT_THROW(cross_entropy(logits_of_thirds(), torch::tensor({label, int64_t{0}})), c10::Error)
        << label;
  }
  EXPECT_THROW(cross_entropy(logits_of_thirds(), torch::tensor({0})), c10::Error);
}

TEST(SoftCrossEntropyTest, MatchesHandComputedValue) {
  // Image 0: -(1/2) log(1/4) - (1/2) log(3/4) = log(16/3) / 2; image 1: -log(2/3).
  const auto soft_labels = torch::tensor({{0.5, 0.5}, {1.0, 0.0}}, torch::kFloat64);
  const auto loss = soft_cross_entropy(logits_of_thirds(), soft_labels);
  EXPECT_NEAR(loss.item<double>(), (std::log(16.0 / 3) / 2 + std::log(1.5)) / 2, 1e-12);
}

TEST(SoftCrossEntropyTest, EqualsCrossEntropyForCertainLabels) {
  torch::manual_seed(1);
  const auto logits = torch::randn({5, 4}, torch::kFloat64);
  const auto labels = torch::tensor({3, 0, 1, 1, 2});
  const auto certain = torch::eye(4, torch::kFloat64).index_select(0, labels);
  EXPECT_NEAR(soft_cross_entropy(logits, certain).item<double>(),
              cross_entropy(logits, labels).item<double>(), 1e-12);
}

TEST(SoftCrossEntropyTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  const auto soft_labels = torch::softmax(torch::randn({3, 4}, torch::kFloat64), 1);
  test::expect_gradient_matches(
      [&](const torch::Tensor& x) { return soft_cross_entropy(x, soft_labels); },
      torch::randn({3, 4}, torch::kFloat64));
}

TEST(SoftCrossEntropyTest, SoftLabelsAreConstants) {
  const auto soft_labels = torch::full({2, 2}, 0.5, torch::kFloat64).set_requires_grad(true);
  const auto logits = logits_of_thirds().set_requires_grad(true);
  soft_cross_entropy(logits, soft_labels).backward();
  EXPECT_FALSE(soft_labels.grad().defined());
  EXPECT_TRUE(logits.grad().defined());
}

TEST(SoftCrossEntropyTest, StaysInTheTypeOfTheLogits) {
  const auto loss =
      soft_cross_entropy(torch::zeros({1, 2}), torch::full({1, 2}, 0.5, torch::kFloat64));
  EXPECT_EQ(loss.scalar_type(), torch::kFloat32);
  EXPECT_NEAR(loss.item<float>(), std::log(2.0), 1e-6);  // float
}

TEST(SoftCrossEntropyTest, EmptyBatchAndOneClassGiveZero) {
  const auto none = torch::zeros({0, 3});
  EXPECT_EQ(soft_cross_entropy(none, none).item<float>(), 0.0F);
  EXPECT_EQ(soft_cross_entropy(torch::full({2, 1}, 7.0), torch::ones({2, 1})).item<float>(), 0.0F);
}

TEST(SoftCrossEntropyTest, RefusesShapesThatOnlyBroadcast) {
  EXPECT_THROW(soft_cross_entropy(torch::zeros({3, 2}), torch::ones({1, 2})), c10::Error);
}

}  // namespace
}  // namespace proca::losses
