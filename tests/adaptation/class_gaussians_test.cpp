#include "adaptation/class_gaussians.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::adaptation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Class 0 has (1, 2) and (3, 2), class 2 has (5, -1), class 1 nothing.
const auto kLatents = [] { return torch::tensor({{1.0F, 2.0F}, {5.0F, -1.0F}, {3.0F, 2.0F}}); };
const auto kLabels = [] { return torch::tensor({0, 2, 0}); };

ClassGaussians gaussians_of(const torch::Tensor& latents, const torch::Tensor& labels,
                            int64_t num_classes) {
  GaussianSums sums(num_classes, latents.size(1));
  sums.add(latents, labels);
  return sums.gaussians(torch::kCPU);
}

ClassGaussians three_classes() { return gaussians_of(kLatents(), kLabels(), 3); }

TEST(GaussianSumsTest, MeansAndVariancesAreThoseOfTheClasses) {
  const auto gaussians = three_classes();
  const auto floor = static_cast<float>(ClassGaussians::kVarianceFloor);
  EXPECT_TRUE(
      torch::equal(gaussians.means(), torch::tensor({{2.0F, 2.0F}, {0.0F, 0.0F}, {5.0F, -1.0F}})));
  // ((1 - 2)^2 + (3 - 2)^2) / 2 = 1; no spread at all is raised to the floor.
  EXPECT_TRUE(torch::equal(gaussians.variances(),
                           torch::tensor({{1.0F, floor}, {1.0F, 1.0F}, {floor, floor}})));
  EXPECT_TRUE(torch::equal(gaussians.present(), torch::tensor({true, false, true})));
  EXPECT_TRUE(torch::equal(gaussians.classes(), torch::tensor({0, 2})));
}

TEST(GaussianSumsTest, TheGlobalGaussianIsOfAllImages) {
  // Means 3 and 1; variances (4 + 4 + 0) / 3 and (1 + 4 + 1) / 3 = 2.
  const auto saved = three_classes().save();
  EXPECT_TRUE(torch::allclose(saved.at("global_mean"), torch::tensor({3.0F, 1.0F})));
  EXPECT_TRUE(
      torch::allclose(saved.at("global_deviations").square(), torch::tensor({8.0F / 3, 2.0F})));
}

TEST(GaussianSumsTest, HowImagesAreBatchedDoesNotMatter) {
  torch::manual_seed(0);
  const auto latents = torch::randn({20, 3});
  const auto labels = torch::randint(4, {20}, torch::kInt64);
  GaussianSums one_by_one(4, 3);
  for (int64_t i = 0; i < 20; ++i) {
    one_by_one.add(latents.narrow(0, i, 1), labels.narrow(0, i, 1));
  }
  const auto together = gaussians_of(latents, labels, 4);
  EXPECT_TRUE(torch::equal(one_by_one.gaussians(torch::kCPU).means(), together.means()));
  EXPECT_TRUE(torch::equal(one_by_one.gaussians(torch::kCPU).variances(), together.variances()));
}

TEST(GaussianSumsTest, VariancesSurviveALargeMean) {
  // 10000 +- 1: sums of squares in single precision would lose the 1.
  const auto latents = torch::tensor({{9999.0F}, {10001.0F}});
  EXPECT_EQ(gaussians_of(latents, torch::tensor({0, 0}), 1).variances().item<float>(), 1.0F);
}

TEST(GaussianSumsTest, WithoutImagesThereAreNoGaussians) {
  const auto none = GaussianSums(3, 2).gaussians(torch::kCPU);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.save().empty());
  RandomStream random(0, "test");
  EXPECT_THROW(none.draw_labels(1, random), c10::Error);
}

TEST(GaussianSumsTest, RefusesWhatDoesNotFit) {
  GaussianSums sums(3, 2);
  EXPECT_THROW(sums.add(torch::ones({1, 2}), torch::tensor({3})), c10::Error);
  EXPECT_THROW(sums.add(torch::ones({1, 2}), torch::tensor({-1})), c10::Error);
  EXPECT_THROW(sums.add(torch::ones({1, 3}), torch::tensor({0})), c10::Error);
  EXPECT_THROW(sums.add(torch::ones({2, 2}), torch::tensor({0})), c10::Error);
  EXPECT_THROW(sums.add(torch::full({1, 2}, kInfinity), torch::tensor({0})), Error);
}

TEST(ClassGaussiansTest, DrawsEveryClassThatIsPresentAndNoOther) {
  RandomStream random(0, "labels");
  const auto labels = three_classes().draw_labels(100, random);
  const auto* values = labels.data_ptr<int64_t>();
  EXPECT_EQ(std::set<int64_t>(values, values + 100), (std::set<int64_t>{0, 2}));
}

TEST(ClassGaussiansTest, SamplesHaveTheMomentsOfTheirClass) {
  torch::manual_seed(0);
  const auto latents = torch::randn({50, 2}) * torch::tensor({0.5F, 3.0F}) + 1;
  const auto gaussians = gaussians_of(latents, torch::zeros({50}, torch::kInt64), 1);
  RandomStream random(0, "samples");
  constexpr int64_t kDraws = 10'000;
  const auto samples = gaussians.sample(torch::zeros({kDraws}, torch::kInt64), random);
  // The mean of 10^4 draws has a deviation of 1 % of theirs, their variance one of 1.4 %.
  const auto deviations = gaussians.variances()[0].sqrt();
  EXPECT_LT(((samples.mean(0) - gaussians.means()[0]) / deviations).abs().max().item<double>(),
            0.05);
  EXPECT_LT((samples.var(0) / gaussians.variances()[0] - 1).abs().max().item<double>(), 0.07);
}

TEST(ClassGaussiansTest, SamplesAreAFunctionOfTheStream) {
  const auto draw = [](uint64_t seed) {
    RandomStream random(seed, "samples");
    return three_classes().sample(torch::tensor({0, 2, 2}), random);
  };
  EXPECT_TRUE(torch::equal(draw(1), draw(1)));
  EXPECT_FALSE(torch::equal(draw(1), draw(2)));
}

TEST(ClassGaussiansTest, DistancesAreInDeviationsAndInfiniteForAnAbsentClass) {
  // From class 0: sqrt((2^2 / 1 + 0) / 2). From class 2: sqrt((1 + 9) / 1e-4 / 2).
  const auto distances = three_classes().scaled_distances(torch::tensor({{4.0F, 2.0F}}));
  EXPECT_NEAR(distances[0][0].item<double>(), std::sqrt(2.0), 1e-6);
  EXPECT_EQ(distances[0][1].item<double>(), kInfinity);
  EXPECT_NEAR(distances[0][2].item<double>(), std::sqrt(5e4), 1e-3);
}

TEST(ClassGaussiansTest, NegativesAreFarFromEveryClass) {
  // Two tight classes far apart: hardly a draw of the global Gaussian is near one of them.
  torch::manual_seed(0);
  const auto latents = torch::cat({torch::randn({30, 4}) - 20, torch::randn({30, 4}) + 20});
  const auto labels = torch::arange(60).div(30, "floor").to(torch::kInt64);
  const auto gaussians = gaussians_of(latents, labels, 3);
  RandomStream random(0, "negatives");
  const auto negatives = gaussians.sample_negatives(40, random);
  EXPECT_EQ(negatives.sizes(), (std::vector<int64_t>{40, 4}));
  EXPECT_GT(gaussians.scaled_distances(negatives).min().item<double>(), 3.0);
}

TEST(ClassGaussiansTest, TheFarthestDrawsAreNegativesWhereNoneIsFarEnough) {
  // With one class the global Gaussian is its own: draws are about 1 deviation away.
  torch::manual_seed(0);
  const auto gaussians = gaussians_of(torch::randn({30, 8}), torch::zeros({30}, torch::kInt64), 1);
  RandomStream random(5, "negatives"), same(5, "negatives");
  const auto negatives = gaussians.sample_negatives(3, random);
  const auto draws = gaussians.sample(torch::zeros({12}, torch::kInt64), same);
  const auto distances = gaussians.scaled_distances(draws).flatten();
  ASSERT_LT(distances.max().item<double>(), 3.0);
  const auto farthest = std::get<0>(distances.topk(3));
  EXPECT_TRUE(torch::equal(gaussians.scaled_distances(negatives).flatten(), farthest));
}

TEST(ClassGaussiansTest, WhatIsSavedComesBack) {
  const auto saved = three_classes().save();
  ClassGaussians loaded;
  loaded.load(saved, torch::kCPU);
  EXPECT_TRUE(torch::equal(loaded.present(), three_classes().present()));
  for (const auto& [name, tensor] : saved) {
    EXPECT_TRUE(torch::equal(loaded.save().at(name), tensor)) << name;
  }
  loaded.load({}, torch::kCPU);
  EXPECT_TRUE(loaded.empty());
}

TEST(ClassGaussiansTest, RefusesASavedStateThatDoesNotFitTogether) {
  const auto good = three_classes().save();
  const auto refused = [&](const std::string& name, const torch::Tensor& tensor) {
    auto bad = good;
    bad[name] = tensor;
    return test::message_of<InputError>([&] { ClassGaussians().load(bad, torch::kCPU); });
  };
  EXPECT_EQ(refused("means", torch::ones({3})),
            "class Gaussians: \"means\" is Float [3], not Float [-1, -1]");
  EXPECT_EQ(refused("classes", torch::ones({2})),
            "class Gaussians: \"classes\" is Float [2], not Long [-1]");
  EXPECT_EQ(refused("classes", torch::tensor({3})), "class Gaussians: \"classes\" holds 3");
  EXPECT_EQ(refused("variances", torch::ones({2, 2})),
            "class Gaussians: \"variances\" is Float [2, 2], not Float [3, 2]");
  EXPECT_EQ(refused("global_mean", torch::ones({5})),
            "class Gaussians: \"global_mean\" is Float [5], not Float [2]");
  EXPECT_EQ(refused("variances", {}), "class Gaussians: \"variances\" is missing");
}

}  // namespace
}  // namespace proca::adaptation
