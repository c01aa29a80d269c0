#include "proca/losses/gradient_reversal.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace proca::losses {
namespace {

torch::Tensor scalar(double value) { return torch::tensor(value, torch::kFloat32); }

TEST(ReverseGradientTest, IsTheIdentityOnTheWayForward) {
  const auto x = torch::tensor({{1.0, -2.0}, {0.0, 3.5}}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(reverse_gradient(x, scalar(0.3)), x));
}

TEST(ReverseGradientTest, FlipsAndScalesTheGradient) {
  const auto x = torch::tensor({1.0, -2.0, 3.0}, torch::kFloat64).set_requires_grad(true);
  // d(sum of squares) = 2 x, times -0.5.
  reverse_gradient(x, scalar(0.5)).square().sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::tensor({-1.0, 2.0, -3.0}, torch::kFloat64)));
}

TEST(ReverseGradientTest, TwoReversalsMultiply) {
  const auto x = torch::ones({2}, torch::kFloat64).set_requires_grad(true);
  reverse_gradient(reverse_gradient(x, scalar(2)), scalar(3)).sum().backward();  // -2 * -3 = 6
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({2}, 6.0, torch::kFloat64)));
}

TEST(ReverseGradientTest, CoefficientZeroStopsTheGradient) {
  const auto x = torch::ones({2}).set_requires_grad(true);
  reverse_gradient(x, scalar(0)).sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::zeros({2})));
}

TEST(ReverseGradientTest, AConstantStaysOne) {
  EXPECT_FALSE(reverse_gradient(torch::ones({2}), scalar(1)).requires_grad());
}

TEST(ReversalRampTest, GrowsFromZeroToItsHeight) {
  EXPECT_EQ(reversal_ramp(0), 0);
  // 2 / (1 + 1/3) - 1 = 1/2 where exp(-steepness * progress) = 1/3
  EXPECT_NEAR(reversal_ramp(std::log(3.0) / 10), 0.5, 1e-12);
  EXPECT_NEAR(reversal_ramp(std::log(3.0), 1, 0.25), 0.125, 1e-12);
  EXPECT_NEAR(reversal_ramp(1), 2 / (1 + std::exp(-10.0)) - 1, 1e-15);
}

TEST(ReversalRampTest, GoesOnBeyondProgressOne) {
  EXPECT_NEAR(reversal_ramp(3, 1), 0.905, 5e-4);  // 2 / (1 + 0.0498) - 1
  EXPECT_EQ(reversal_ramp(1e6, 10, 0.3), 0.3);
}

}  // namespace
}  // namespace proca::losses
