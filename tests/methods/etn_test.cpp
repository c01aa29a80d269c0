#include "adversarial_case.h"

namespace proca::methods {
namespace {

class EtnTest : public AdversarialCase {
 protected:
  // The five terms, written down as the formulas are.
  struct Terms {
    torch::Tensor source, adversarial_source, adversarial_target, entropy, domain, classes;
  };
  Terms terms_by_formula(Method& method) {
    const auto& modules = *method.auxiliary_modules();
    const auto source = network_->forward(batch().source_images);
    const auto target = network_->forward(batch().target_images);
    const auto leaky = [&](const torch::Tensor& features) {
      const auto e = mlp(modules, features.detach(), "classifier.").exp();
      return e / (kClasses + e.sum(1, /*keepdim=*/true));
    };
    const auto p = leaky(source.features);
    const auto d_source = p.sum(1), d_target = leaky(target.features).sum(1);
    const auto w = ((1 - d_source) / (1 - d_source).mean()).detach();
    const auto own = torch::eye(kClasses).index_select(0, batch().source_labels);
    const auto scores = [&](const torch::Tensor& features) {
      return mlp(modules, features, "discriminator.");
    };
    return {(w * cross_entropies(source.logits, batch().source_labels)).mean(),
            (w * source_bce(scores(source.features))).mean(),
            target_bce(scores(target.features)).mean(),
            entropies(target.logits).mean(),
            -d_source.log().mean() - (1 - d_target).log().mean(),
            -(own * p.log() + (1 - own) * (1 - p).log()).sum() / 4};
  }
};

TEST_F(EtnTest, TheTotalIsThatOfTheFormula) {
  const auto method = make("etn");
  const auto expected = terms_by_formula(*method);
  const auto terms = test::losses_of(*method, batch(), step_.context());
  expect_near(term(terms, "source"), expected.source);
  expect_near(total(terms), expected.source + expected.adversarial_source +
                                expected.adversarial_target + 0.2 * expected.entropy +
                                10 * expected.domain + expected.classes);
}

TEST_F(EtnTest, TheAuxiliaryClassifierLearnsFromFeaturesAndDoesNotChangeThem) {
  const auto method = make("etn");
  const auto terms = test::losses_of(*method, batch(), step_.context());
  for (const auto* name : {"auxiliary-domain", "auxiliary-classes"}) {
    for (const auto& item : network_->named_parameters()) {
      EXPECT_FALSE(gradient(term(terms, name), item.value()).defined()) << name << item.key();
    }
  }
}

TEST_F(EtnTest, OnlyItsOwnLossesTrainTheAuxiliaryClassifier) {
  const auto method = make("etn");
  const auto terms = test::losses_of(*method, batch(), step_.context());
  const auto weight = method->auxiliary_modules()->named_parameters()["classifier.first.weight"];
  for (const auto* name : {"source", "adversarial", "entropy"}) {
    EXPECT_FALSE(gradient(term(terms, name), weight).defined()) << name;
  }
  for (const auto* name : {"auxiliary-domain", "auxiliary-classes"}) {
    EXPECT_GT(gradient(term(terms, name), weight).abs().max().item<float>(), 0) << name;
  }
}

TEST_F(EtnTest, ReversalCountsTwoCallsPerIteration) {
  const auto method = make("etn");
  const auto neck = network_->neck_parameters().front();
  const auto plain = terms_by_formula(*method);
  const auto ramp = [](double calls) { return 2 / (1 + std::exp(-calls / 1000)) - 1; };
  auto context = step_.context();
  for (const double tick : {1.0, 200.0}) {
    context.clock_tick = tick;
    context.clock = 200;
    const auto loss = term(test::losses_of(*method, batch(), context), "adversarial");
    const auto expected = -ramp(400) * gradient(plain.adversarial_source, neck) -
                          ramp(400 + tick) * gradient(plain.adversarial_target, neck);
    expect_near(gradient(loss, neck), expected);
  }
}

TEST_F(EtnTest, OnlyTheStemsBatchNormIsFrozen) {
  const auto method = make("etn");
  network_->train();
  const auto state = network_->state();
  const auto stem = state.at("bn1.running_mean").clone();
  const auto later = state.at("layer1.0.bn1.running_mean").clone();
  test::losses_of(*method, batch(), step_.context());
  EXPECT_TRUE(torch::equal(state.at("bn1.running_mean"), stem));
  EXPECT_FALSE(torch::equal(state.at("layer1.0.bn1.running_mean"), later));
}

TEST_F(EtnTest, DropsOutOnlyWhileTheNetworkTrains) {
  const auto method = make("etn");
  const auto value = [&] {
    return term(test::losses_of(*method, batch(), step_.context()), "auxiliary-classes")
        .item<double>();
  };
  EXPECT_EQ(value(), value());
  network_->train();
  EXPECT_NE(value(), value());
}

}  // namespace
}  // namespace proca::methods
