#include "training/sgd.h"

#include <gtest/gtest.h>

#include "proca/core/error.h"

namespace proca::training {
namespace {

torch::Tensor parameter(double value) {
  return torch::full({1}, value, torch::kFloat64).set_requires_grad(true);
}

void set_gradient(torch::Tensor& tensor, double value) {
  tensor.mutable_grad() = torch::full({1}, value, torch::kFloat64);
}

// w = 1, gradient 2 each time, lr 0.1, momentum 0.5, decay 0.25:
//   d1 = 2 + 0.25 * 1    = 2.25,   m1 = 2.25,                 w1 = 1 - 0.225   = 0.775
//   d2 = 2 + 0.25 * 0.775 = 2.19375, m2 = 1.125 + 2.19375 = 3.31875, w2 = 0.775 - 0.331875
TEST(SgdTest, FollowsTheFormulaByHand) {
  auto weight = parameter(1);
  Sgd sgd({{{weight}, 0.1, 0.25}}, 0.5);
  set_gradient(weight, 2);
  sgd.step();
  EXPECT_NEAR(weight.item<double>(), 0.775, 1e-12);
  set_gradient(weight, 2);
  sgd.step();
  EXPECT_NEAR(weight.item<double>(), 0.443125, 1e-12);
}

// Nesterov, no decay: d = 2, m1 = 2, w1 = 1 - 0.1 * (2 + 0.5 * 2) = 0.7.
TEST(SgdTest, NesterovLooksAhead) {
  auto weight = parameter(1);
  Sgd sgd({{{weight}, 0.1, 0.0}}, 0.5, Momentum::kNesterov);
  set_gradient(weight, 2);
  sgd.step();
  EXPECT_NEAR(weight.item<double>(), 0.7, 1e-12);
}

TEST(SgdTest, GroupsHaveTheirOwnRateAndTheScaleAppliesToAll) {
  auto slow = parameter(0), fast = parameter(0);
  Sgd sgd({{{slow}, 0.1, 0.0}, {{fast}, 1.0, 0.0}}, 0.0);
  set_gradient(slow, 1);
  set_gradient(fast, 1);
  sgd.set_lr_scale(0.5);
  sgd.step();
  EXPECT_NEAR(slow.item<double>(), -0.05, 1e-12);
  EXPECT_NEAR(fast.item<double>(), -0.5, 1e-12);
}

TEST(SgdTest, ParametersWithoutAGradientStay) {
  auto used = parameter(1), unused = parameter(1);
  Sgd sgd({{{used, unused}, 0.1, 0.5}}, 0.9);
  set_gradient(used, 1);
  sgd.step();
  EXPECT_NE(used.item<double>(), 1.0);
  EXPECT_EQ(unused.item<double>(), 1.0);
  sgd.zero_grad();
  EXPECT_FALSE(used.grad().defined());
}

TEST(SgdTest, RestoredStateGoesOnAsIfNeverInterrupted) {
  auto a = parameter(1), b = parameter(1);
  Sgd whole({{{a}, 0.1, 0.01}}, 0.9), first({{{b}, 0.1, 0.01}}, 0.9);
  set_gradient(a, 2);
  whole.step();
  set_gradient(b, 2);
  first.step();
  std::map<std::string, torch::Tensor> saved;
  for (const auto& [name, tensor] : first.state()) saved.emplace(name, tensor.clone());
  Sgd second({{{b}, 0.1, 0.01}}, 0.9);
  second.load_state(saved);
  set_gradient(a, -1);
  whole.step();
  set_gradient(b, -1);
  second.step();
  EXPECT_EQ(a.item<double>(), b.item<double>());
}

TEST(SgdTest, RefusesAForeignState) {
  auto weight = parameter(1);
  Sgd sgd({{{weight}, 0.1, 0.0}}, 0.9);
  EXPECT_THROW(sgd.load_state({}), InputError);
  EXPECT_THROW(sgd.load_state({{"momentum.0", torch::zeros({2})}}), InputError);
  EXPECT_THROW(sgd.load_state({{"momentum.1", torch::zeros({1})}}), InputError);
}

TEST(SgdTest, AsNewItHasNoMomentumAndTheOldRate) {
  auto weight = torch::tensor({1.0}).set_requires_grad(true);
  Sgd sgd({{{weight}, 0.1, 0.0}}, 0.9);
  const auto step = [&] {
    weight.mutable_grad() = torch::tensor({2.0});
    sgd.step();
  };
  sgd.set_lr_scale(0.5);
  step();  // 1 - 0.05 * 2 = 0.9
  EXPECT_NEAR(weight.item<double>(), 0.9, 1e-6);
  sgd.reset();
  step();  // 0.9 - 0.1 * 2 = 0.7; momentum would make it 0.52
  EXPECT_NEAR(weight.item<double>(), 0.7, 1e-6);
}

}  // namespace
}  // namespace proca::training
