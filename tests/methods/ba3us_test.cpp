#include "adversarial_case.h"

namespace proca::methods {
namespace {

class Ba3usTest : public AdversarialCase {
 protected:
  // Mean: (3/8, 3/8, 1/4, 0).
  static torch::Tensor predictions() {
    return torch::tensor({{0.5F, 0.25F, 0.25F, 0.0F}, {0.25F, 0.5F, 0.25F, 0.0F}});
  }
  static torch::Tensor gamma() { return torch::tensor({0.375F, 0.375F, 0.25F, 0.0F}); }

  StepContext context(int64_t epoch, const torch::Tensor& probabilities) {
    auto context = context_with(probabilities);
    context.num_epochs = 10;
    context.num_iterations = 10;
    context.step_iterations = 100;
    context.epoch = epoch;
    return context;
  }

  AdaptationBatch batch_with_extra(int64_t count) const {
    auto all = batch();
    const auto more = step_.batch(8, count, 0, 1);
    all.extra_source_images = more.source_images;
    all.extra_source_labels = more.source_labels;
    return all;
  }

  // L_adv by the formula, with the class weights gamma; reversals are left out.
  torch::Tensor adversarial(Method& method, const AdaptationBatch& batch,
                            const torch::Tensor& gamma) {
    auto images = batch.source_images;
    auto labels = batch.source_labels;
    double m = 0;
    if (batch.extra_source_images.defined()) {
      m = static_cast<double>(batch.extra_source_images.size(0));
      images = torch::cat({images, batch.extra_source_images});
      labels = torch::cat({labels, batch.extra_source_labels});
    }
    const auto source = network_->forward(images);
    const auto target = network_->forward(batch.target_images);
    const auto certainty = [this](const torch::Tensor& logits) {
      return 1 + (-entropies(constant_weights_ ? logits.detach() : logits)).exp();
    };
    const auto scores = mlp(*method.auxiliary_modules(), source.features).flatten();
    const auto source_losses = torch::cat(
        {source_bce(scores.narrow(0, 0, 4)), target_bce(scores.narrow(0, 4, scores.size(0) - 4))});
    const auto target_losses = target_bce(mlp(*method.auxiliary_modules(), target.features));
    const auto source_weights = certainty(source.logits) * gamma.index_select(0, labels);
    const auto target_weights = certainty(target.logits);
    // The weights add up to 1 + m/B and 1.
    return ((1 + m / 4) * (source_weights * source_losses).sum() / source_weights.detach().sum() +
            (target_weights * target_losses).sum() / target_weights.detach().sum()) /
           (2 + m / 4);
  }

  bool constant_weights_ = false;  // in `adversarial`

  torch::Tensor complement(const torch::Tensor& gamma) {
    const auto p = torch::softmax(network_->forward(batch().source_images).logits, 1);
    auto numerator = torch::zeros({}), denominator = torch::zeros({});
    for (int64_t j = 0; j < 4; ++j) {
      const int64_t y = batch().source_labels[j].item<int64_t>();
      const auto rest = 1 - p[j][y];
      auto t = torch::zeros({});
      for (int64_t k = 0; k < kClasses; ++k) {
        if (k != y) t = t + p[j][k] / rest * (p[j][k] / rest).log() / std::log(kClasses - 1.0);
      }
      numerator = numerator + gamma[y] * rest * t;
      denominator = denominator + gamma[y] * rest;
    }
    return numerator / denominator;
  }
};

TEST_F(Ba3usTest, ExtraImagesBecomeFewerAndReachZero) {
  const auto method = make("ba3us");
  auto context = this->context(0, predictions());
  context.batch_size = 36;
  std::vector<int64_t> counts;
  for (context.epoch = 0; context.epoch < 10; ++context.epoch) {
    counts.push_back(method->plan_epoch(context).extra_source);
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  context.epoch = 0;
  context.batch_size = 2;
  EXPECT_EQ(method->plan_epoch(context).extra_source, 0);
}

TEST_F(Ba3usTest, ThereAreNoClassWeightsInTheFirstRoundOfAStep) {
  const auto method = make("ba3us");
  method->begin_step(context(0, predictions()));
  method->begin_epoch(context(0, predictions()));
  EXPECT_TRUE(method->save().empty());
  method->begin_epoch(context(1, predictions()));
  expect_near(method->save().at("class-weights"), gamma());
  method->begin_step(context(0, predictions()));
  EXPECT_TRUE(method->save().empty());
}

TEST_F(Ba3usTest, TheFirstTotalIsThatOfTheFormulaWithoutClassWeights) {
  const auto method = make("ba3us");
  const auto ones = torch::ones({kClasses});
  const auto source = network_->forward(batch().source_images);
  const auto target = network_->forward(batch().target_images);
  const auto expected = cross_entropies(source.logits, batch().source_labels).mean() +
                        adversarial(*method, batch(), ones) +
                        0.1 * entropies(target.logits).mean() + 5 * complement(ones);
  expect_near(total(test::losses_of(*method, batch(), context(0, predictions()))), expected);
}

TEST_F(Ba3usTest, LaterSourceTermsAreWeightedByClass) {
  const auto method = make("ba3us");
  method->begin_epoch(context(1, predictions()));
  const auto ce =
      cross_entropies(network_->forward(batch().source_images).logits, batch().source_labels);
  for (const int64_t extra : {1, 3}) {
    const auto all = batch_with_extra(extra);
    const auto terms = test::losses_of(*method, all, context(1, predictions()));
    expect_near(term(terms, "source"), 0.375 * ce[0] + 0.375 * ce[1] + 0.25 * ce[2]);
    expect_near(term(terms, "adversarial"), adversarial(*method, all, gamma()));
    expect_near(term(terms, "complement"), complement(gamma()));
  }
}

TEST_F(Ba3usTest, OneExtraImageTrainsLikeTheOthers) {
  const auto method = make("ba3us");
  network_->train();
  const auto terms = test::losses_of(*method, batch_with_extra(1), context(0, predictions()));
  EXPECT_TRUE(torch::isfinite(total(terms)).item<bool>());
}

// The classifier meets L_adv only through the entropies in the weights.
TEST_F(Ba3usTest, TheGradientThroughEntropiesIsReversed) {
  const auto method = make("ba3us");
  const auto& head = network_->head()->weight;
  const auto plain = gradient(adversarial(*method, batch(), torch::ones({kClasses})), head);
  ASSERT_GT(plain.abs().max().item<double>(), 1e-6);
  for (const double progress : {0.0, 0.1}) {
    auto context = this->context(0, predictions());
    context.progress = progress;
    const auto loss = term(test::losses_of(*method, batch(), context), "adversarial");
    const double coefficient = 2 / (1 + std::exp(-10 * progress)) - 1;
    expect_near(gradient(loss, head), -coefficient * plain);
  }
}

// With no progress nothing comes through the entropies.
TEST_F(Ba3usTest, TheGradientThroughFeaturesIsReversedAndCountsFromOne) {
  const auto method = make("ba3us");
  const auto neck = network_->neck_parameters().front();
  constant_weights_ = true;
  const auto plain = gradient(adversarial(*method, batch(), torch::ones({kClasses})), neck);
  const auto terms = test::losses_of(*method, batch(), context(0, predictions()));
  // The first of 10 rounds of 10 iterations.
  const double coefficient = 2 / (1 + std::exp(-10 * 0.01)) - 1;
  expect_near(gradient(term(terms, "adversarial"), neck), -coefficient * plain);
}

TEST_F(Ba3usTest, ABatchOfClassesThatTheTargetLacksTeachesNothing) {
  const auto method = make("ba3us");
  method->begin_epoch(context(1, predictions()));
  EXPECT_TRUE(test::losses_of(*method, step_.batch(3, 1, 0, 2), context(1, predictions())).empty());
  EXPECT_FALSE(
      test::losses_of(*method, step_.batch(2, 2, 0, 2), context(1, predictions())).empty());
}

TEST_F(Ba3usTest, ClassWeightsSurviveARestart) {
  const auto method = make("ba3us");
  method->begin_epoch(context(1, predictions()));
  const auto again = make("ba3us");
  again->load(method->save());
  EXPECT_TRUE(test::losses_of(*again, step_.batch(3, 1, 0, 2), context(1, predictions())).empty());
  again->load({});
  EXPECT_TRUE(again->save().empty());
}

}  // namespace
}  // namespace proca::methods
