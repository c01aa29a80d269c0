#include "adversarial_case.h"

namespace proca::methods {
namespace {

class PadaTest : public AdversarialCase {
 protected:
  // Mean (3/4, 1/4, 0, 0), divided by its own mean 1/4: weights (3, 1, 0, 0).
  static torch::Tensor predictions() {
    return torch::tensor({{1.0F, 0.0F, 0.0F, 0.0F}, {0.5F, 0.5F, 0.0F, 0.0F}});
  }

  struct Parts {
    torch::Tensor source, domain;  // float [4], float [7]
  };
  Parts parts(Method& method) {
    const auto images = torch::cat({batch().source_images, batch().target_images});
    const auto output = network_->forward(images);
    const auto scores = mlp(*method.auxiliary_modules(), output.features);
    return {cross_entropies(output.logits.narrow(0, 0, 4), batch().source_labels),
            torch::cat({source_bce(scores.narrow(0, 0, 4)), target_bce(scores.narrow(0, 4, 3))})};
  }
};

TEST_F(PadaTest, TheFirstTotalIsThatOfTheFormulaWithEqualWeights) {
  const auto method = make("pada");
  const auto [source, domain] = parts(*method);
  expect_near(total(test::losses_of(*method, batch(), step_.context())),
              source.mean() + domain.mean());
  EXPECT_TRUE(method->save().empty());
}

TEST_F(PadaTest, SourceTermsAreWeightedByWhatTheTargetShows) {
  const auto method = make("pada", {{"refresh-every", "1"}});
  const auto [source, domain] = parts(*method);
  const auto terms = test::losses_of(*method, batch(), context_with(predictions()));
  EXPECT_TRUE(
      torch::equal(method->save().at("class-weights"), torch::tensor({3.0F, 1.0F, 0.0F, 0.0F})));
  expect_near(term(terms, "source"), (3 * source[0] + source[1]) / 4);
  // Over the largest weight of the batch, and over all seven images.
  const auto weights = torch::tensor({1.0F, 1.0F / 3, 0.0F, 0.0F, 1.0F, 1.0F, 1.0F});
  expect_near(term(terms, "adversarial"), (weights * domain).sum() / 7);
}

TEST_F(PadaTest, AClassThatTheTargetLacksLosesItsSourceLoss) {
  const auto method = make("pada", {{"refresh-every", "1"}});
  const auto context = context_with(predictions());
  const auto only_absent = step_.batch(2, 2, 0, 2);  // the labels 2 and 3
  const auto terms = test::losses_of(*method, only_absent, context);
  EXPECT_EQ(term(terms, "source").item<float>(), 0.0F);
  EXPECT_TRUE(torch::isfinite(total(terms)).item<bool>());
  EXPECT_EQ(gradient(term(terms, "source"), network_->head()->weight).abs().max().item<float>(),
            0.0F);
}

TEST_F(PadaTest, WeightsAreRenewedAtTheEndOfEachIntervalAndResetAtANewStep) {
  const auto method = make("pada", {{"refresh-every", "2"}});
  auto context = context_with(predictions());
  method->begin_step(context);
  test::losses_of(*method, batch(), context);
  EXPECT_TRUE(method->save().empty()) << "iteration 0 of an interval of 2";
  context.step_iteration = 1;
  test::losses_of(*method, batch(), context);
  EXPECT_EQ(method->save().count("class-weights"), 1u);
  method->begin_step(context);
  EXPECT_TRUE(method->save().empty());
}

TEST_F(PadaTest, TheSoftmaxScaleSharpensProbabilities) {
  const auto method = make("pada", {{"refresh-every", "1"}, {"softmax-scale", "2"}});
  // Squares 16 : 4 : 4 : 4 over 28, times 4.
  const auto context = context_with(torch::tensor({{0.4F, 0.2F, 0.2F, 0.2F}}));
  test::losses_of(*method, batch(), context);
  const auto expected = torch::tensor({16.0F, 4.0F, 4.0F, 4.0F}) / 7;
  expect_near(method->save().at("class-weights"), expected);
}

TEST_F(PadaTest, ReversalCountsFromOneAndEndsAtItsHeight) {
  const auto method = make("pada", {{"reversal-high", "0.5"}});
  const auto neck = network_->neck_parameters().front();
  const auto plain = gradient(parts(*method).domain.mean(), neck);
  auto context = step_.context();
  for (const auto& [clock, coefficient] :
       {std::pair{999.0, 1 / (1 + std::exp(-1.0)) - 0.5}, std::pair{1e6, 0.5}}) {
    context.clock = clock;
    const auto loss = term(test::losses_of(*method, batch(), context), "adversarial");
    expect_near(gradient(loss, neck), -coefficient * plain);
  }
}

}  // namespace
}  // namespace proca::methods
