#include "proca/state/feature_record.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca::state {
namespace {

using Labels = std::vector<int64_t>;

TEST(EvenlySpreadTest, TakesAllOrEveryNth) {
  EXPECT_EQ(evenly_spread(3, 5), (Labels{0, 1, 2}));
  EXPECT_EQ(evenly_spread(10, 5), (Labels{0, 2, 4, 6, 8}));
  EXPECT_EQ(evenly_spread(7, 3), (Labels{0, 2, 4}));
  EXPECT_EQ(evenly_spread(0, 3), Labels{});
}

// Points on the line through (3, 4) / 5 at -5, 0 and 5: one component holds all of it.
TEST(PrincipalComponentsTest, FindsALine) {
  const auto points = torch::tensor({{-2.0f, -3.0f}, {1.0f, 1.0f}, {4.0f, 5.0f}});
  const auto components = principal_components(points, 2);
  ASSERT_EQ(components.sizes(), (torch::IntArrayRef{3, 2}));
  EXPECT_TRUE(torch::allclose(components.select(1, 0).abs(), torch::tensor({5.0f, 0.0f, 5.0f}),
                              1e-5, 1e-5));
  EXPECT_LT(components.select(1, 1).abs().max().item<float>(), 1e-4f);
}

// Both ways to the components, by points and by dimensions, keep all distances.
TEST(PrincipalComponentsTest, KeepsDistances) {
  torch::manual_seed(0);
  for (const int64_t count : {4, 20}) {
    const auto points = torch::randn({count, 7});
    const auto components = principal_components(points, 50);
    EXPECT_EQ(components.size(1), std::min<int64_t>(count, 7));
    EXPECT_TRUE(torch::allclose(torch::cdist(components, components), torch::cdist(points, points),
                                1e-3, 1e-3));
    const auto variances = components.var(0);
    for (int64_t i = 1; i < variances.size(0); ++i) {
      EXPECT_GE(variances[i - 1].item<float>() + 1e-4f, variances[i].item<float>());
    }
    EXPECT_TRUE(torch::equal(components, principal_components(points, 50)));
  }
}

FeatureSets some_sets() {
  FeatureSets sets;
  sets.target = {.features = torch::tensor({{0.0f, 0.0f}, {2.0f, 0.0f}}),
                 .labels = {1, 0},
                 .pseudo_labels = {1, -1},
                 .predicted = {0, 0}};
  sets.prototypes = {
      .features = torch::tensor({{4.0f, 0.0f}}), .pseudo_labels = {1}, .predicted = {1}};
  return sets;
}

TEST(FeatureRecordTest, KeepsWhatIsKnownOfEveryPoint) {
  const auto record = make_feature_record(some_sets());
  EXPECT_EQ(record.kinds, (Labels{0, 0, 1}));
  EXPECT_EQ(record.labels, (Labels{1, 0, -1}));
  EXPECT_EQ(record.pseudo_labels, (Labels{1, -1, 1}));
  EXPECT_EQ(record.predicted, (Labels{0, 0, 1}));
  // Centred, 2 apart along one component.
  EXPECT_TRUE(torch::allclose(record.features.select(1, 0).abs(), torch::tensor({2.0f, 0.0f, 2.0f}),
                              1e-5, 1e-5));
}

TEST(FeatureRecordTest, WithoutTrueLabelsThereAreNone) {
  auto sets = some_sets();
  sets.target.labels.clear();
  const auto record = make_feature_record(sets);
  EXPECT_TRUE(record.labels.empty());
  EXPECT_FALSE(record.save().contains("labels"));
}

TEST(FeatureRecordTest, IsReadBackAsSaved) {
  const auto record = make_feature_record(some_sets());
  const auto read = FeatureRecord::load(record.save(), "f");
  EXPECT_TRUE(torch::equal(read.features, record.features));
  EXPECT_EQ(read.kinds, record.kinds);
  EXPECT_EQ(read.labels, record.labels);
  EXPECT_EQ(read.pseudo_labels, record.pseudo_labels);
  EXPECT_EQ(read.predicted, record.predicted);
}

TEST(FeatureRecordTest, RefusesWhatDoesNotFit) {
  struct Case {
    std::string name;
    torch::Tensor tensor;  // undefined: it is missing
    std::string message;
  };
  const std::vector<Case> cases = {
      {"features", {}, "\"features\" is missing"},
      {"features", torch::zeros({3}), "\"features\" is Float [3], not Float [-1, -1]"},
      {"features", torch::zeros({3, 2}, torch::kFloat64),
       "\"features\" is Double [3, 2], not Float [-1, -1]"},
      {"features", torch::full({3, 2}, NAN),
       "\"features\" holds a value that is not a finite number"},
      {"kinds", {}, "\"kinds\" is missing"},
      {"kinds", torch::full({3}, 3, torch::kInt64), "\"kinds\" holds 3"},
      {"kinds", torch::zeros({2}, torch::kInt64), "\"kinds\" is Long [2], not Long [3]"},
      {"predicted", torch::zeros({3}), "\"predicted\" is Float [3], not Long [3]"},
      {"pseudo_labels", torch::full({3}, -2, torch::kInt64), "\"pseudo_labels\" holds -2"},
      {"labels", torch::full({3}, -2, torch::kInt64), "\"labels\" holds -2"},
  };
  for (const auto& [name, tensor, message] : cases) {
    auto tensors = make_feature_record(some_sets()).save();
    if (tensor.defined()) {
      tensors[name] = tensor;
    } else {
      tensors.erase(name);
    }
    EXPECT_EQ(test::message_of([&] { FeatureRecord::load(tensors, "f"); }),
              "f: is damaged: " + message);
  }
}

}  // namespace
}  // namespace proca::state
