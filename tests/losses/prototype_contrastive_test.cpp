#include "proca/losses/prototype_contrastive.h"

#include <cmath>
#include <limits>
#include <set>

#include "proca/core/error.h"
#include "support/gradcheck.h"
#include "support/message_of.h"

namespace proca::losses {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const PrototypeContrastiveOptions kPlain = {.temperature = 0.5, .margin = 0};

torch::Tensor axes() { return torch::eye(2, torch::kFloat64); }

/// For every label all classes but its own: int64 [N, K - 1].
torch::Tensor all_others(const std::vector<int64_t>& labels, int64_t num_classes) {
  std::vector<int64_t> others;
  for (const int64_t label : labels) {
    for (int64_t k = 0; k < num_classes; ++k) {
      if (k != label) others.push_back(k);
    }
  }
  return torch::tensor(others).view({static_cast<int64_t>(labels.size()), num_classes - 1});
}

TEST(PrototypeContrastiveLossTest, MatchesHandComputedValue) {
  // Cosines 1 and 0: -log( e^2 / (e^2 + e^0) ) = log(1 + e^-2)
  const auto feature = torch::tensor({{3.0, 0.0}}, torch::kFloat64);
  const auto loss = prototype_contrastive_loss(feature, torch::tensor({0}), axes(), kPlain);
  EXPECT_NEAR(loss.item<double>(), std::log1p(std::exp(-2.0)), 1e-12);
  EXPECT_EQ(loss.dim(), 0);
}

TEST(PrototypeContrastiveLossTest, TakesTheMeanOverTheBatch) {
  // The second feature has cosines 0 (own) and 1: log(1 + e^2).
  const auto features = torch::tensor({{3.0, 0.0}, {0.0, 0.1}}, torch::kFloat64);
  const auto loss = prototype_contrastive_loss(features, torch::tensor({0, 0}), axes(), kPlain);
  EXPECT_NEAR(loss.item<double>(), (std::log1p(std::exp(-2.0)) + std::log1p(std::exp(2.0))) / 2,
              1e-12);
}

TEST(PrototypeContrastiveLossTest, MarginIsTakenFromTheOwnSimilarityOnly) {
  // -log( e^((1 - 0.3) / 0.5) / (e^((1 - 0.3) / 0.5) + 1) ) = log(1 + e^-1.4)
  const auto feature = torch::tensor({{3.0, 0.0}}, torch::kFloat64);
  const auto loss = prototype_contrastive_loss(feature, torch::tensor({0}), axes(),
                                               {.temperature = 0.5, .margin = 0.3});
  EXPECT_NEAR(loss.item<double>(), std::log1p(std::exp(-1.4)), 1e-12);
}

TEST(PrototypeContrastiveLossTest, CosineIgnoresLengthsAndInnerProductDoesNot) {
  const auto feature = torch::tensor({{3.0, 1.0}}, torch::kFloat64);
  const auto labels = torch::tensor({0});
  const auto loss = [&](double scale, Similarity similarity) {
    return prototype_contrastive_loss(feature * scale, labels, axes() * scale,
                                      {.temperature = 0.5, .margin = 0, .similarity = similarity})
        .item<double>();
  };
  EXPECT_NEAR(loss(1, Similarity::kCosine), loss(7, Similarity::kCosine), 1e-12);
  // Products 3 and 1, then 49 times as much: log(1 + e^((1 - 3) / 0.5)) and so on.
  EXPECT_NEAR(loss(1, Similarity::kInnerProduct), std::log1p(std::exp(-4.0)), 1e-12);
  EXPECT_NEAR(loss(0.5, Similarity::kInnerProduct), std::log1p(std::exp(-1.0)), 1e-12);
}

TEST(PrototypeContrastiveLossTest, CountsRepeatedNegatives) {
  // Class 1 twice: log(1 + 2 e^-2)
  const auto feature = torch::tensor({{3.0, 0.0}}, torch::kFloat64);
  const auto loss = prototype_contrastive_loss(feature, torch::tensor({0}), axes(), kPlain,
                                               torch::tensor({{1, 1}}));
  EXPECT_NEAR(loss.item<double>(), std::log1p(2 * std::exp(-2.0)), 1e-12);
}

TEST(PrototypeContrastiveLossTest, SampleOfAllOthersEqualsNoSample) {
  torch::manual_seed(3);
  const std::vector<int64_t> labels = {4, 0, 2, 2};
  for (const auto similarity : {Similarity::kCosine, Similarity::kInnerProduct}) {
    const PrototypeContrastiveOptions options = {.temperature = 0.3, .similarity = similarity};
    const auto features = torch::randn({4, 6}, torch::kFloat64);
    const auto centres = torch::randn({5, 6}, torch::kFloat64);
    const auto all = prototype_contrastive_loss(features, torch::tensor(labels), centres, options);
    const auto sampled = prototype_contrastive_loss(features, torch::tensor(labels), centres,
                                                    options, all_others(labels, 5));
    EXPECT_NEAR(all.item<double>(), sampled.item<double>(), 1e-12);
  }
}

TEST(PrototypeContrastiveLossTest, GradientMatchesFiniteDifferences) {
  torch::manual_seed(0);
  const auto labels = torch::tensor({0, 3, 1});
  const auto centres = torch::randn({4, 5}, torch::kFloat64);
  const auto negatives = torch::tensor({{1, 1, 3}, {0, 2, 0}, {2, 2, 2}});
  for (const auto similarity : {Similarity::kCosine, Similarity::kInnerProduct}) {
    for (const auto& chosen : {torch::Tensor(), negatives}) {
      const PrototypeContrastiveOptions options = {.temperature = 0.5, .similarity = similarity};
      test::expect_gradient_matches(
          [&](const torch::Tensor& x) {
            return prototype_contrastive_loss(x, labels, centres, options, chosen);
          },
          torch::randn({3, 5}, torch::kFloat64));
    }
  }
}

TEST(PrototypeContrastiveLossTest, CentresAreConstants) {
  const auto features = torch::ones({1, 2}, torch::kFloat64).set_requires_grad(true);
  const auto centres = axes().set_requires_grad(true);
  prototype_contrastive_loss(features, torch::tensor({0}), centres).backward();
  EXPECT_TRUE(features.grad().defined());
  EXPECT_FALSE(centres.grad().defined());
}

TEST(PrototypeContrastiveLossTest, ZeroVectorsHaveSimilarityZeroAndFiniteGradients) {
  const auto centres = torch::tensor({{0.0, 0.0}, {1.0, 0.0}, {0.0, 2.0}}, torch::kFloat64);
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    for (const auto& negatives : {torch::Tensor(), torch::tensor({{1, 2}, {0, 0}})}) {
      const auto features = torch::tensor({{0.0, 0.0}, {1.0, 1.0}}, dtype).set_requires_grad(true);
      const auto loss = prototype_contrastive_loss(features, torch::tensor({0, 1}),
                                                   centres.to(dtype), kPlain, negatives);
      EXPECT_TRUE(std::isfinite(loss.item<double>()));
      loss.backward();
      EXPECT_TRUE(torch::isfinite(features.grad()).all().item<bool>()) << features.grad();
      EXPECT_EQ(features.grad()[0].abs().sum().item<double>(), 0.0);
      EXPECT_GT(features.grad()[1].abs().sum().item<double>(), 0.0);
    }
  }
  // All three similarities of the zero feature are 0: log 3.
  const auto loss = prototype_contrastive_loss(torch::zeros({1, 2}, torch::kFloat64),
                                               torch::tensor({1}), centres, kPlain);
  EXPECT_NEAR(loss.item<double>(), std::log(3.0), 1e-12);
}

TEST(PrototypeContrastiveLossTest, LargeInnerProductsDoNotOverflow) {
  const auto features = torch::tensor({{1e3F, 0.0F}});
  const auto centres = torch::tensor({{0.0F, 1.0F}, {1e3F, 0.0F}});
  const PrototypeContrastiveOptions options = {.margin = 0,
                                               .similarity = Similarity::kInnerProduct};
  const auto loss = prototype_contrastive_loss(features, torch::tensor({0}), centres, options);
  EXPECT_NEAR(loss.item<double>(), 1e6 / 0.07, 2.0);  // float: 24 bits of 1.4e7
}

TEST(PrototypeContrastiveLossTest, EmptyBatchGivesZeroThatCanBeTrainedOn) {
  const auto none = torch::zeros({0, 2}, torch::kFloat64).set_requires_grad(true);
  const auto no_labels = torch::zeros({0}, torch::kInt64);
  const auto loss = prototype_contrastive_loss(none, no_labels, axes());
  EXPECT_EQ(loss.item<double>(), 0.0);
  loss.backward();
  EXPECT_TRUE(none.grad().defined());
}

TEST(PrototypeContrastiveLossTest, OneClassGivesZeroSinceNothingCompetes) {
  const auto centres = torch::tensor({{1.0, 2.0}}, torch::kFloat64);
  const auto labels = torch::tensor({0, 0});
  RandomStream random(0, "negatives");
  for (const auto& negatives : {torch::Tensor(), sample_negatives(labels, 1, 10, random)}) {
    const auto features = torch::ones({2, 2}, torch::kFloat64).set_requires_grad(true);
    const auto loss = prototype_contrastive_loss(features, labels, centres, {}, negatives);
    EXPECT_EQ(loss.item<double>(), 0.0);
    loss.backward();
    EXPECT_EQ(features.grad().abs().sum().item<double>(), 0.0);
  }
}

TEST(PrototypeContrastiveLossTest, StaysInTheTypeOfTheFeatures) {
  const auto loss = prototype_contrastive_loss(torch::ones({1, 2}), torch::tensor({0}), axes());
  EXPECT_EQ(loss.scalar_type(), torch::kFloat32);
}

TEST(PrototypeContrastiveLossTest, RefusesWhatDoesNotFit) {
  const auto features = torch::ones({2, 2}, torch::kFloat64);
  const auto labels = torch::tensor({0, 1});
  EXPECT_THROW(prototype_contrastive_loss(features, torch::tensor({0}), axes()), c10::Error);
  EXPECT_THROW(prototype_contrastive_loss(features, torch::tensor({0, 2}), axes()), c10::Error);
  EXPECT_THROW(prototype_contrastive_loss(features, labels, torch::eye(3, torch::kFloat64)),
               c10::Error);
  EXPECT_THROW(prototype_contrastive_loss(features, labels, axes(), {}, torch::tensor({{0}})),
               c10::Error);
}

TEST(PrototypeContrastiveOptionsTest, NamesTheFieldOutOfRange) {
  for (const double temperature : {0.0, -1.0, kInfinity, std::nan("")}) {
    const auto message = test::message_of<InvalidOption>(
        [&] { PrototypeContrastiveOptions{.temperature = temperature}.validate(); });
    EXPECT_NE(message.find("temperature"), std::string::npos) << message;
  }
  for (const double margin : {-0.1, kInfinity, std::nan("")}) {
    const auto message = test::message_of<InvalidOption>(
        [&] { PrototypeContrastiveOptions{.margin = margin}.validate(); });
    EXPECT_NE(message.find("margin"), std::string::npos) << message;
  }
  EXPECT_NO_THROW((PrototypeContrastiveOptions{.temperature = 1e-3, .margin = 0}.validate()));
}

TEST(SampleNegativesTest, DrawsEveryOtherClassAndNeverTheOwn) {
  RandomStream random(7, "negatives");
  const auto labels = torch::tensor({0, 2, 3});
  const auto negatives = sample_negatives(labels, 4, 200, random);
  EXPECT_EQ(negatives.sizes(), (std::vector<int64_t>{3, 200}));
  EXPECT_EQ(negatives.scalar_type(), torch::kInt64);
  const std::vector<std::set<int64_t>> expected = {{1, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  for (int64_t i = 0; i < 3; ++i) {
    const auto row = negatives[i].contiguous();
    const auto* values = row.data_ptr<int64_t>();
    EXPECT_EQ(std::set<int64_t>(values, values + 200), expected[static_cast<size_t>(i)]);
  }
}

TEST(SampleNegativesTest, IsAFunctionOfTheStream) {
  const auto draw = [](uint64_t seed) {
    RandomStream random(seed, "negatives");
    return sample_negatives(torch::tensor({1, 5}), 10, 20, random);
  };
  EXPECT_TRUE(torch::equal(draw(1), draw(1)));
  EXPECT_FALSE(torch::equal(draw(1), draw(2)));
}

TEST(SampleNegativesTest, OneClassOrNoImageOrNoCountGivesAnEmptyResult) {
  RandomStream random(0, "negatives");
  const auto labels = torch::tensor({0, 0});
  const auto shape = [&](const torch::Tensor& of, int64_t num_classes, int64_t count) {
    return sample_negatives(of, num_classes, count, random).sizes().vec();
  };
  EXPECT_EQ(shape(labels, 1, 10), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(shape(labels, 3, 0), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(shape(torch::zeros({0}, torch::kInt64), 3, 10), (std::vector<int64_t>{0, 10}));
}

}  // namespace
}  // namespace proca::losses
