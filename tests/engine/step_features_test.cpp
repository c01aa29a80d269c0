#include "engine/step_features.h"

#include <gtest/gtest.h>

#include "support/fake_step.h"
#include "support/image_feeds.h"
#include "training/feeds/image_tensors.h"

namespace proca::engine {
namespace {

class StepFeaturesTest : public ::testing::Test {
 protected:
  // Images 0 to 2 are prototypes of class 1, images 3 to 5 of class 2.
  StepFeaturesTest() {
    for (const int64_t label : {1, 2}) {
      adaptation::ClassPrototypes entry{.label = label};
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < 3; ++i) {
        ids.push_back(3 * (label - 1) + i);
        entry.origins.push_back(store_.sample(ids.back()).path);
      }
      entry.pixels = training::pixels_of(store_, ids, preprocessing_);
      entry.soft_labels = torch::full({3, 3}, 1.0 / 3);
      memory_.put(std::move(entry));
    }
    network_->eval();
  }

  state::FeaturePoints points(const state::FeaturePoints& seen) {
    return prototype_points(memory_, seen, network_, preprocessing_, {});
  }
  // As an evaluation sees them.
  state::FeaturePoints evaluated(const std::vector<int64_t>& images) {
    const auto evaluation = evaluate_with_features(network_, store_, preprocessing_, {}, images);
    state::FeaturePoints points{.features = evaluation.features};
    for (const int64_t i : images) {
      points.names.push_back(store_.sample(i).path);
      points.predicted.push_back(evaluation.predictions[static_cast<size_t>(i)]);
    }
    return points;
  }

  data::ImageStore store_ = test::noise_store(9, test::Sizes::kSeveral);
  data::Preprocessing preprocessing_{.image_size = 12};
  models::ClassifierNetwork network_ = test::small_network(3);
  adaptation::PrototypeMemory memory_{3};
};

TEST_F(StepFeaturesTest, PrototypesThatWereSeenNeedNoSecondLook) {
  const auto looked = points({});
  EXPECT_EQ(looked.size(), 6);
  for (const auto& images : std::vector<std::vector<int64_t>>{{0, 1, 2, 3, 4, 5}, {1, 5, 8}, {7}}) {
    const auto taken = points(evaluated(images));
    EXPECT_TRUE(torch::allclose(taken.features, looked.features, 1e-5, 1e-5));
    EXPECT_EQ(taken.predicted, looked.predicted);
    EXPECT_EQ(taken.names, looked.names);
    EXPECT_EQ(taken.pseudo_labels, (std::vector<int64_t>{1, 1, 1, 2, 2, 2}));
  }
}

TEST_F(StepFeaturesTest, WhatWasSeenIsTakenByName) {
  auto seen = evaluated({4});
  seen.features.fill_(7);
  seen.predicted = {0};
  const auto taken = points(seen);
  EXPECT_TRUE((taken.features[4] == 7).all().item<bool>());
  EXPECT_FALSE((taken.features[3] == 7).any().item<bool>());
  EXPECT_EQ(taken.predicted[4], 0);
}

TEST_F(StepFeaturesTest, AnEmptyMemoryShowsNothing) {
  const adaptation::PrototypeMemory empty;
  EXPECT_TRUE(shown_prototypes(empty).empty());
  EXPECT_EQ(prototype_points(empty, {}, network_, preprocessing_, {}).size(), 0);
}

}  // namespace
}  // namespace proca::engine
