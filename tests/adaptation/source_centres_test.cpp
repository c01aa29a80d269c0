#include "adaptation/source_centres.h"

#include <gtest/gtest.h>

namespace proca::adaptation {
namespace {

torch::Tensor class_centres(const torch::Tensor& features, const torch::Tensor& labels,
                            int64_t num_classes) {
  ClassCentres centres(num_classes, features.size(1));
  centres.add(features, labels);
  return centres.centres();
}

TEST(ClassCentresTest, AreTheMeansOfTheClasses) {
  const auto features = torch::tensor({{1.0, 2.0}, {5.0, 5.0}, {3.0, 6.0}});
  const auto centres = class_centres(features, torch::tensor({2, 0, 2}), 4);
  const auto expected = torch::tensor({{5.0, 5.0}, {0.0, 0.0}, {2.0, 4.0}, {0.0, 0.0}});
  EXPECT_TRUE(torch::equal(centres, expected)) << centres;
  EXPECT_EQ(centres.scalar_type(), torch::kFloat32);
}

TEST(ClassCentresTest, AddUpInDoublePrecision) {
  // In single precision 2^24 + 1 is 2^24: the ones would be lost.
  auto features = torch::ones({10'001, 1});
  features[0] = 16777216.0F;
  const auto centres = class_centres(features, torch::zeros({10'001}, torch::kInt64), 1);
  EXPECT_EQ(centres.item<float>(), static_cast<float>(16787216.0 / 10'001));
}

TEST(ClassCentresTest, NeitherGradientsNorImagesAreNeeded) {
  const auto trained = torch::ones({1, 2}, torch::kFloat64).set_requires_grad(true);
  const auto centres = class_centres(trained, torch::tensor({0}), 1);
  EXPECT_FALSE(centres.requires_grad());
  const auto no_labels = torch::zeros({0}, torch::kInt64);
  EXPECT_TRUE(
      torch::equal(class_centres(torch::zeros({0, 2}), no_labels, 3), torch::zeros({3, 2})));
}

TEST(ClassCentresTest, RefusesLabelsOutOfRange) {
  const auto features = torch::ones({1, 2});
  for (const int64_t label : {-1, 3}) {
    EXPECT_THROW(class_centres(features, torch::tensor({label}), 3), c10::Error) << label;
    EXPECT_THROW(class_prior(torch::tensor({label}), 3), c10::Error) << label;
  }
  EXPECT_THROW(class_centres(features, torch::tensor({0, 0}), 3), c10::Error);
}

TEST(ClassPriorTest, IsTheShareOfEachClass) {
  const auto prior = class_prior(torch::tensor({0, 2, 2, 2}), 4);
  EXPECT_TRUE(torch::equal(prior, torch::tensor({0.25F, 0.0F, 0.75F, 0.0F}))) << prior;
  EXPECT_TRUE(torch::equal(class_prior(torch::zeros({0}, torch::kInt64), 2), torch::zeros({2})));
}

}  // namespace
}  // namespace proca::adaptation
