#include <gtest/gtest.h>

#include "proca/methods/method.h"
#include "support/fake_step.h"

namespace proca::methods {
namespace {

// The models' predictions are set by hand: image i of the target looks like class i % 2.
class ProcaTest : public ::testing::Test {
 protected:
  static constexpr int64_t kImages = 8;

  std::unique_ptr<Method> make(const std::vector<std::pair<std::string, std::string>>& values) {
    OptionSet options;
    const auto factory = find_method("proca").configure(options);
    for (const auto& [name, value] : values) options.assign(name, {value});
    return factory(network_, 0);
  }

  // Probabilities of which class 0 has `share` and class 1 the rest, in proportion.
  static Predictions predictions(double share) {
    auto probabilities = torch::zeros({kImages, 4});
    auto features = torch::zeros({kImages, 64});
    for (int64_t i = 0; i < kImages; ++i) {
      probabilities[i][i % 2] = i % 2 == 0 ? share : 1 - share;
      features[i][i % 2] = 1;
      features[i][2] = 0.01 * static_cast<double>(i);
    }
    return {probabilities, features};
  }

  StepContext context(int64_t step, double share) {
    auto context = step_.context();
    context.step = step;
    context.num_epochs = 10;
    context.num_iterations = 2;
    context.predict_target = [this, share](ModelChoice choice) {
      if (choice == ModelChoice::kCurrent) ++predictions_of_current_;
      return predictions(share);
    };
    context.source_centres = [this](ModelChoice choice) {
      if (choice == ModelChoice::kCurrent) ++centres_of_current_;
      return torch::ones({4, network_->feature_size()});
    };
    return context;
  }

  std::vector<std::string> names_of_terms(Method& method, const StepContext& context) {
    std::vector<std::string> names;
    for (const auto& term : test::losses_of(method, step_.batch(0, 4, 0, 4), context)) {
      names.emplace_back(term.name);
    }
    return names;
  }

  void run_epochs(Method& method, StepContext context, int64_t from, int64_t to) {
    for (context.epoch = from; context.epoch <= to; ++context.epoch) {
      method.begin_epoch(context);
      method.end_epoch(context);
    }
  }

  models::ClassifierNetwork network_ = test::small_network(4);
  test::FakeStep step_{network_, 16, kImages, {0, 1}};
  int64_t predictions_of_current_ = 0;
  int64_t centres_of_current_ = 0;
};

TEST_F(ProcaTest, PrototypesEnterTrainingAfterTheWarmUp) {
  const auto method = make({{"prototypes", "2"}});
  auto context = this->context(0, 0.5);
  method->begin_step(context);
  run_epochs(*method, context, 0, 2);
  EXPECT_EQ(method->memory()->num_classes(), 0);
  EXPECT_EQ(names_of_terms(*method, context), (std::vector<std::string>{"source", "target"}));
  run_epochs(*method, context, 3, 3);
  EXPECT_EQ(method->memory()->num_classes(), 2);
  EXPECT_EQ(names_of_terms(*method, context),
            (std::vector<std::string>{"source", "target", "alignment", "distillation"}));
}

TEST_F(ProcaTest, PseudoLabelsFollowTheClusters) {
  const auto method = make({});
  const auto context = this->context(0, 0.5);
  method->begin_step(context);
  ASSERT_NE(method->decisions(), nullptr);
  EXPECT_EQ(method->decisions()->shared_classes.classes, (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(torch::equal(method->decisions()->pseudo_labels.labels,
                           torch::tensor({0, 1, 0, 1, 0, 1, 0, 1})));
}

// Step 1 gives class 0 the score 1 and class 1 a score of (0.4 - 0) / 0.6 = 2/3, since u is
// 4 * 0.6, 4 * 0.4, 0, 0. Step 2 the other way round.
TEST_F(ProcaTest, AClassIsReplacedByStrongerEvidenceAfterTheFirstCapture) {
  for (const auto* variant : {"authors-code", "paper"}) {
    const auto method = make({{"prototypes", "2"}, {"variant", variant}});
    auto first = context(0, 0.6);
    method->begin_step(first);
    run_epochs(*method, first, 0, 7);
    EXPECT_NEAR(method->memory()->at(1).score, 2.0 / 3, 1e-6);
    auto second = context(1, 0.4);
    method->begin_step(second);
    run_epochs(*method, second, 0, 3);
    EXPECT_EQ(method->memory()->at(1).step, 0) << "the first capture leaves known classes alone";
    run_epochs(*method, second, 4, 7);
    EXPECT_EQ(method->memory()->at(0).step, 0) << "its evidence was weaker: 2/3 against 1";
    EXPECT_EQ(method->memory()->at(1).step, 1) << "its evidence was stronger: 1 against 2/3";
    const double expected = std::string(variant) == "paper" ? 1.0 : 2.0 / 3;
    EXPECT_NEAR(method->memory()->at(1).score, expected, 1e-6) << variant;
  }
}

TEST_F(ProcaTest, OnlyThePaperUsesTheCurrentModelAgain) {
  struct Case {
    const char* variant;
    int64_t predictions, centres;
  };
  // Ten epochs: captures after 3 and 7 use it either way; the paper also relabels
  // before epochs 4 and 8, and recomputes centres before epoch 5.
  for (const auto& [variant, predictions, centres] :
       {Case{"authors-code", 2, 0}, Case{"paper", 4, 1}}) {
    predictions_of_current_ = centres_of_current_ = 0;
    const auto method = make({{"variant", variant}});
    auto context = this->context(0, 0.5);
    method->begin_step(context);
    run_epochs(*method, context, 0, 9);
    EXPECT_EQ(predictions_of_current_, predictions) << variant;
    EXPECT_EQ(centres_of_current_, centres) << variant;
  }
}

TEST_F(ProcaTest, ASingleDifferenceCanBeChosenAlone) {
  predictions_of_current_ = 0;
  const auto method = make({{"variant", "paper"}, {"pseudo-label-model", "source"}});
  auto context = this->context(0, 0.5);
  method->begin_step(context);
  run_epochs(*method, context, 0, 9);
  EXPECT_EQ(predictions_of_current_, 2);
  EXPECT_EQ(centres_of_current_, 1);
}

TEST_F(ProcaTest, WeightsOfTheTermsAreLambdaAndEta) {
  const auto method = make({{"lambda", "0.25"}, {"eta", "3"}});
  auto context = this->context(0, 0.5);
  method->begin_step(context);
  run_epochs(*method, context, 0, 3);
  const auto terms = test::losses_of(*method, step_.batch(0, 4, 0, 4), context);
  ASSERT_EQ(terms.size(), 4u);
  EXPECT_EQ(terms[2].weight, 0.25);
  EXPECT_EQ(terms[3].weight, 3);
}

TEST_F(ProcaTest, SoftLabelsAreTheNetworksPredictionsAtCapture) {
  const auto method = make({{"prototypes", "1"}});
  auto context = this->context(0, 0.7);
  method->begin_step(context);
  run_epochs(*method, context, 0, 3);
  const auto& entry = method->memory()->at(0);
  EXPECT_NEAR(entry.soft_labels[0][0].item<double>(), 0.7, 1e-6);
  ASSERT_EQ(entry.image_ids.size(), 1u);
  EXPECT_EQ(entry.image_ids[0] % 2, 0) << "an image of class 0";
  EXPECT_TRUE(entry.origins.empty()) << "a method does not know file names";
}

}  // namespace
}  // namespace proca::methods
