#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/methods/method.h"
#include "support/fake_step.h"
#include "support/message_of.h"

namespace proca::methods {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// The models' predictions are set by hand: the image i of a step looks like class
// shown[i % shown.size()], for which the source model gives it `share` of the probability.
class CensusTest : public ::testing::Test {
 protected:
  static constexpr int64_t kImages = 16;
  static constexpr int64_t kClasses = 6;

  std::unique_ptr<Method> make(const Values& values = {}) {
    OptionSet options;
    const auto factory = find_method("census").configure(options);
    options.assign("prototypes", {"2"});
    for (const auto& [name, value] : values) options.assign(name, {value});
    return factory(network_, 0);
  }

  static Predictions look_like(const std::vector<int64_t>& shown, double share) {
    auto probabilities = torch::full({kImages, kClasses}, (1 - share) / (kClasses - 1));
    auto features = torch::zeros({kImages, 64});
    for (int64_t i = 0; i < kImages; ++i) {
      const int64_t label = shown[static_cast<size_t>(i) % shown.size()];
      probabilities[i][label] = share;
      features[i][label] = 1;
      features[i][kClasses + i] = 0.05;
    }
    return {probabilities, features};
  }

  StepContext context(int64_t step, const std::vector<int64_t>& shown, double share = 0.8) {
    auto context = step_.context();
    context.step = step;
    context.num_epochs = 4;
    context.num_iterations = 2;
    context.predict_target = [this, shown, share](ModelChoice choice) {
      return choice == ModelChoice::kCurrent && current_ ? *current_ : look_like(shown, share);
    };
    context.source_centres = [this](ModelChoice) {
      return torch::ones({kClasses, network_->feature_size()});
    };
    return context;
  }

  static void take(Method& method, StepContext context) {
    method.begin_step(context);
    for (context.epoch = 0; context.epoch < context.num_epochs; ++context.epoch) {
      method.begin_epoch(context);
      method.end_epoch(context);
    }
    method.end_step(context);
    method.memory()->name_images(
        [&](int64_t id) { return std::to_string(context.step) + "/" + std::to_string(id); });
  }

  static std::vector<int64_t> classes_of(const Method& method) {
    return method.decisions()->shared_classes.classes;
  }

  models::ClassifierNetwork network_ = test::small_network(kClasses);
  test::FakeStep step_{network_, 16, kImages, {0, 1}};
  std::optional<Predictions> current_;  // of the adapted network, where it differs
};

TEST_F(CensusTest, FindsTheClassesAndLabelsByThem) {
  const auto method = make();
  method->begin_step(context(0, {1, 4}));
  EXPECT_EQ(classes_of(*method), (std::vector<int64_t>{1, 4}));
  const auto& labels = method->decisions()->pseudo_labels.labels;
  EXPECT_TRUE(torch::equal(labels.slice(0, 0, 4), torch::tensor({1, 4, 1, 4})));
  ASSERT_TRUE(method->decisions()->trust.has_value());
  EXPECT_GT(method->decisions()->trust->expected_accuracy(), 0.9);
}

TEST_F(CensusTest, PrototypesAreCapturedAtTheEndOfTheStep) {
  const auto method = make();
  auto first = context(0, {1, 4});
  method->begin_step(first);
  for (first.epoch = 0; first.epoch < 3; ++first.epoch) method->end_epoch(first);
  EXPECT_EQ(method->memory()->num_classes(), 0);
  method->end_epoch(first);
  EXPECT_EQ(method->memory()->num_classes(), 2);
}

TEST_F(CensusTest, LabelsFollowTheNetworkAsItImproves) {
  const auto method = make();
  auto first = context(0, {1, 4}, 0.5);
  method->begin_step(first);
  // The adapted network is sure that images 0 and 2 are of class 4, and moved them there.
  current_ = look_like({1, 4}, 0.9);
  for (const int64_t image : {0, 2}) {
    current_->probabilities[image] = current_->probabilities[1];
    current_->features[image] = current_->features[1];
  }
  first.epoch = 1;
  method->begin_epoch(first);
  EXPECT_EQ(method->decisions()->pseudo_labels.labels[0].item<int64_t>(), 1) << "not due yet";
  first.epoch = 2;
  method->begin_epoch(first);
  EXPECT_TRUE(torch::equal(method->decisions()->pseudo_labels.labels.slice(0, 0, 5),
                           torch::tensor({4, 4, 4, 4, 1})));
}

TEST_F(CensusTest, AClassThatWasThereIsNotExpectedAgainWhereEachArrivesOnce) {
  // In step 2 the images of class 2 look more like class 1 to the source model.
  auto second = context(1, {2, 4});
  auto ambiguous = look_like({2, 4}, 0.5);
  for (int64_t i = 0; i < kImages; i += 2) ambiguous.probabilities[i][1] = 0.6;
  second.predict_target = [ambiguous](ModelChoice) { return ambiguous; };
  const auto found = [&](const char* classes) {
    const auto method = make({{"classes", classes}, {"background-correction", "0"}});
    take(*method, context(0, {0, 1}));
    take(*method, second);
    return classes_of(*method);
  };
  EXPECT_EQ(found("any"), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(found("new"), (std::vector<int64_t>{2, 4}));
}

TEST_F(CensusTest, AReturningClassRefinesItsPrototypes) {
  const auto origins_after = [&](const char* classes) {
    const auto method = make({{"classes", classes}, {"prototypes", "12"}});
    take(*method, context(0, {1, 4}));
    take(*method, context(1, {1, 3}));
    return method->memory()->at(1).origins;
  };
  const auto count = [](const std::vector<std::string>& names, const std::string& prefix) {
    return std::count_if(names.begin(), names.end(),
                         [&](const auto& name) { return name.starts_with(prefix); });
  };
  const auto refined = origins_after("any");
  EXPECT_GT(count(refined, "0/"), 0);
  EXPECT_GT(count(refined, "1/"), 0);
  EXPECT_EQ(count(refined, "0/") + count(refined, "1/"), 12);
  EXPECT_EQ(count(origins_after("new"), "0/"), 12) << "a mistake, then or now";
}

TEST_F(CensusTest, WhatEarlierStepsGotAnywayIsRemembered) {
  const auto method = make();
  take(*method, context(0, {1, 4}));
  const auto saved = method->save();
  EXPECT_EQ(saved.at("background.counts")[0].item<int64_t>(), kImages) << "no image showed it";
  EXPECT_EQ(saved.at("background.counts")[1].item<int64_t>(), kImages / 2);
  EXPECT_NEAR(saved.at("factors")[1].item<double>(), 0.03, 0.01);
  EXPECT_EQ(saved.at("factors")[0].item<double>(), 1);
  const auto again = make();
  again->load(saved);
  EXPECT_TRUE(torch::equal(again->save().at("background.sums"), saved.at("background.sums")));
}

TEST_F(CensusTest, AForeignBackgroundIsRefused) {
  const auto method = make();
  take(*method, context(0, {1, 4}));
  auto saved = method->save();
  saved["factors"] = torch::ones({2}, torch::kFloat64);
  EXPECT_NE(test::message_of<InputError>([&] { make()->load(saved); }).find("background"),
            std::string::npos);
}

}  // namespace
}  // namespace proca::methods
