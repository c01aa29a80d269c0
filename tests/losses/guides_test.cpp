#include "losses/guides.h"

#include <cmath>

#include "support/gradcheck.h"

namespace proca::losses {
namespace {

torch::Tensor unit_axes() { return torch::eye(2, torch::kFloat64); }

TEST(GuideSimilaritiesTest, AreCosinesWhateverTheLengths) {
  const auto features = torch::tensor({{3.0, 0.0}, {1.0, 1.0}, {0.0, 0.0}}, torch::kFloat64);
  const auto guides = torch::tensor({{0.5, 0.0}, {0.0, -4.0}}, torch::kFloat64);
  const double half = std::sqrt(0.5);  // cosine of 45 degrees
  const auto expected = torch::tensor({{1.0, 0.0}, {half, -half}, {0.0, 0.0}}, torch::kFloat64);
  EXPECT_TRUE(torch::allclose(guide_similarities(features, guides), expected, 0, 1e-12));
  EXPECT_THROW(guide_similarities(features, torch::eye(3, torch::kFloat64)), c10::Error);
}

TEST(GuideSeparationLossTest, MatchesHandComputedValues) {
  // Two at right angles, t = 0.5: -log( e^2 / (e^2 + e^0) ) each. Two in one direction: log 2.
  // Opposite ones: -log( e^2 / (e^2 + e^-2) ).
  const auto loss = [](double x, double y) {
    const auto guides = torch::tensor({{1.0, 0.0}, {x, y}}, torch::kFloat64);
    return guide_separation_loss(guides, 0.5).item<double>();
  };
  EXPECT_NEAR(loss(0, 3), std::log1p(std::exp(-2.0)), 1e-12);
  EXPECT_NEAR(loss(2, 0), std::log(2.0), 1e-12);
  EXPECT_NEAR(loss(-1, 0), std::log1p(std::exp(-4.0)), 1e-12);
}

TEST(GuideSeparationLossTest, ASingleGuideHasNothingToBeApartFrom) {
  const auto guide = torch::ones({1, 3}, torch::kFloat64).set_requires_grad(true);
  const auto loss = guide_separation_loss(guide, 0.1);
  EXPECT_EQ(loss.item<double>(), 0.0);
  loss.backward();
  EXPECT_EQ(guide.grad().abs().sum().item<double>(), 0.0);
}

TEST(GuideSeparationLossTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  test::expect_gradient_matches(
      [](const torch::Tensor& x) { return guide_separation_loss(x, 0.3); },
      torch::randn({4, 5}, torch::kFloat64));
}

TEST(GuideAttractionLossTest, MatchesHandComputedValues) {
  // Cosines 1 and 0, t = 0.5: log(1 + e^-2) for the first guide, log(1 + e^2) for the second.
  const auto features = torch::tensor({{3.0, 0.0}, {3.0, 0.0}}, torch::kFloat64);
  const auto loss = guide_attraction_loss(features, torch::tensor({0, 1}), unit_axes(), 0.5);
  EXPECT_NEAR(loss.item<double>(), (std::log1p(std::exp(-2.0)) + std::log1p(std::exp(2.0))) / 2,
              1e-12);
}

TEST(GuideAttractionLossTest, GradientsReachFeaturesAndGuides) {
  torch::manual_seed(1);
  const auto features = torch::randn({3, 4}, torch::kFloat64);
  const auto guides = torch::randn({2, 4}, torch::kFloat64);
  const auto labels = torch::tensor({1, 0, 1});
  test::expect_gradient_matches(
      [&](const torch::Tensor& x) { return guide_attraction_loss(x, labels, guides, 0.3); },
      features);
  test::expect_gradient_matches(
      [&](const torch::Tensor& x) { return guide_attraction_loss(features, labels, x, 0.3); },
      guides);
}

TEST(GuideAttractionLossTest, NoFeaturesGiveZeroThatCanBeTrainedOn) {
  const auto none = torch::zeros({0, 2}, torch::kFloat64).set_requires_grad(true);
  const auto loss = guide_attraction_loss(none, torch::zeros({0}, torch::kInt64), unit_axes(), 0.5);
  EXPECT_EQ(loss.item<double>(), 0.0);
  loss.backward();
  EXPECT_TRUE(none.grad().defined());
}

TEST(GuideLossesTest, RefuseATemperatureOfZero) {
  EXPECT_THROW(guide_separation_loss(unit_axes(), 0), c10::Error);
  EXPECT_THROW(guide_attraction_loss(unit_axes(), torch::tensor({0, 1}), unit_axes(), 0),
               c10::Error);
}

// Two classes around (0, 0) and (2, 2), the second with the variances 1 and 4. For u = (0, 0)
// the logits are 0 and -1/2 (4/1 + 4/4) / 2 = -1.25.
struct TwoGaussians {
  torch::Tensor means = torch::tensor({{0.0, 0.0}, {2.0, 2.0}}, torch::kFloat64);
  torch::Tensor variances = torch::tensor({{1.0, 1.0}, {1.0, 4.0}}, torch::kFloat64);
};

TEST(GaussianSeparationLossTest, MatchesHandComputedValues) {
  const auto [means, variances] = TwoGaussians();
  const auto loss = [&](int64_t label) {
    return gaussian_separation_loss(torch::zeros({1, 2}, torch::kFloat64), torch::tensor({label}),
                                    means, variances)
        .item<double>();
  };
  EXPECT_NEAR(loss(0), std::log1p(std::exp(-1.25)), 1e-12);
  EXPECT_NEAR(loss(1), std::log1p(std::exp(1.25)), 1e-12);
}

TEST(GaussianSeparationLossTest, AClassThatIsNotPresentDoesNotCompete) {
  const auto [means, variances] = TwoGaussians();
  const auto latents = torch::zeros({1, 2}, torch::kFloat64).set_requires_grad(true);
  const auto loss = gaussian_separation_loss(latents, torch::tensor({0}), means, variances,
                                             torch::tensor({true, false}));
  EXPECT_EQ(loss.item<double>(), 0.0);
  loss.backward();
  EXPECT_EQ(latents.grad().abs().sum().item<double>(), 0.0);
}

TEST(GaussianSeparationLossTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(2);
  const auto means = torch::randn({3, 4}, torch::kFloat64);
  const auto variances = torch::rand({3, 4}, torch::kFloat64) + 0.1;
  const auto labels = torch::tensor({2, 0});
  for (const auto& present : {torch::Tensor(), torch::tensor({true, false, true})}) {
    test::expect_gradient_matches(
        [&](const torch::Tensor& x) {
          return gaussian_separation_loss(x, labels, means, variances, present);
        },
        torch::randn({2, 4}, torch::kFloat64));
  }
}

TEST(GaussianSeparationLossTest, GaussiansAreConstants) {
  const auto [means, variances] = TwoGaussians();
  const auto latents = torch::ones({1, 2}, torch::kFloat64).set_requires_grad(true);
  const auto trained = means.clone().set_requires_grad(true);
  gaussian_separation_loss(latents, torch::tensor({0}), trained, variances).backward();
  EXPECT_TRUE(latents.grad().defined());
  EXPECT_FALSE(trained.grad().defined());
}

TEST(GaussianSeparationLossTest, RefusesWhatDoesNotFit) {
  const auto [means, variances] = TwoGaussians();
  const auto labels = torch::tensor({0});
  EXPECT_THROW(
      gaussian_separation_loss(torch::ones({1, 3}, torch::kFloat64), labels, means, variances),
      c10::Error);
  EXPECT_THROW(gaussian_separation_loss(torch::ones({1, 2}, torch::kFloat64), labels, means,
                                        variances.narrow(0, 0, 1)),
               c10::Error);
}

}  // namespace
}  // namespace proca::losses
