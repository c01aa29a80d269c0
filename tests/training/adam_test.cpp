#include "training/adam.h"

#include <cmath>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::training {
namespace {

torch::Tensor scalar_weight(double value) {
  return torch::tensor({value}, torch::kFloat64).set_requires_grad(true);
}

TEST(AdamTest, TheFirstTwoUpdatesMatchHandComputedValues) {
  auto w = scalar_weight(1);
  Adam adam({w}, 0.1);
  // g = 3: m = 0.3 and v = 0.009; corrected by 0.1 and 0.001 they are 3 and 9.
  adam.minimise((w * 3).sum());
  const double after_first = 1 - 0.1 * 3 / (3 + 1e-8);
  EXPECT_NEAR(w.item<double>(), after_first, 1e-12);
  // g = 1: m = 0.9 * 0.3 + 0.1 = 0.37, v = 0.999 * 0.009 + 0.001 = 0.009991, to be
  // corrected by 1 - 0.9^2 = 0.19 and 1 - 0.999^2 = 0.001999.
  adam.minimise(w.sum());
  const double step = 0.1 * (0.37 / 0.19) / (std::sqrt(0.009991 / 0.001999) + 1e-8);
  EXPECT_NEAR(w.item<double>(), after_first - step, 1e-12);
}

TEST(AdamTest, ParametersTheLossDoesNotDependOnAreLeftAloneAndNotCounted) {
  auto used = scalar_weight(1), unused = scalar_weight(2);
  Adam adam({used, unused}, 0.1);
  adam.minimise(used.sum());
  EXPECT_NE(used.item<double>(), 1);
  EXPECT_EQ(unused.item<double>(), 2);
  EXPECT_EQ(adam.state().size(), 3u);
  // Its first update is a first one, whatever the other has had: 0.1 * 1 / (1 + 1e-8).
  adam.minimise(unused.sum());
  EXPECT_NEAR(unused.item<double>(), 2 - 0.1 / (1 + 1e-8), 1e-12);
}

TEST(AdamTest, NoGradientStaysBehind) {
  auto w = scalar_weight(1), frozen = scalar_weight(4);
  Adam adam({w}, 0.1);
  adam.minimise((w * frozen).sum());
  EXPECT_FALSE(w.grad().defined());
  EXPECT_FALSE(frozen.grad().defined());
  EXPECT_EQ(frozen.item<double>(), 4);
}

TEST(AdamTest, GoesOnFromASavedStateAsIfNothingHadHappened) {
  auto w = scalar_weight(1), copy = scalar_weight(0);
  Adam adam({w}, 0.1), resumed({copy}, 0.1);
  adam.minimise(w.square().sum());
  {
    const torch::NoGradGuard no_grad;
    copy.copy_(w);
  }
  resumed.load_state(adam.state());
  for (int64_t i = 0; i < 3; ++i) {
    adam.minimise(w.square().sum());
    resumed.minimise(copy.square().sum());
  }
  EXPECT_EQ(copy.item<double>(), w.item<double>());
}

TEST(AdamTest, ALoadedStateIsACopy) {
  auto w = scalar_weight(1), other = scalar_weight(1);
  Adam adam({w}, 0.1), resumed({other}, 0.1);
  adam.minimise(w.sum());
  const double mean = adam.state().at("mean.0").item<double>();
  resumed.load_state(adam.state());
  resumed.minimise(other.sum());
  EXPECT_EQ(adam.state().at("mean.0").item<double>(), mean);
}

TEST(AdamTest, ResetForgetsEveryUpdate) {
  auto w = scalar_weight(1);
  Adam adam({w}, 0.1);
  adam.minimise((w * 100).sum());
  adam.reset();
  EXPECT_TRUE(adam.state().empty());
  const double before = w.item<double>();
  adam.minimise(w.sum());
  EXPECT_NEAR(w.item<double>(), before - 0.1 / (1 + 1e-8), 1e-12);
}

TEST(AdamTest, RefusesAStateOfOtherParameters) {
  auto one = scalar_weight(1);
  auto two = torch::ones({2}, torch::kFloat64).set_requires_grad(true);
  Adam adam({one}, 0.1), wide({two}, 0.1), many({one, two}, 0.1);
  wide.minimise(two.sum());
  EXPECT_EQ(test::message_of<InputError>([&] { adam.load_state(wide.state()); }),
            "Adam's state: mean.0 is missing or has another shape");
  many.minimise(one.sum() + two.sum());
  EXPECT_EQ(test::message_of<InputError>([&] { adam.load_state(many.state()); }),
            "Adam's state: 6 tensors, of which 3 belong to a parameter");
  auto incomplete = wide.state();
  incomplete.erase("square.0");
  EXPECT_EQ(test::message_of<InputError>([&] { wide.load_state(incomplete); }),
            "Adam's state: square.0 is missing or has another shape");
}

}  // namespace
}  // namespace proca::training
