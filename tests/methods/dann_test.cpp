#include "adversarial_case.h"
#include "proca/core/error.h"

namespace proca::methods {
namespace {

class DannTest : public AdversarialCase {
 protected:
  // As the discriminator, with the statistics of the batch; its batch-norms start at 1 and 0.
  static torch::Tensor scores(const torch::nn::Module& module, const torch::Tensor& features) {
    const auto parameters = module.named_parameters();
    const auto linear = [&](const std::string& layer, const torch::Tensor& x) {
      return torch::matmul(x, parameters[layer + ".weight"].t()) + parameters[layer + ".bias"];
    };
    const auto normalised = [](const torch::Tensor& x) {
      return (x - x.mean(0)) / (x.var(0, /*unbiased=*/false) + 1e-5).sqrt();
    };
    const auto first = normalised(linear("first", features)).relu();
    return linear("last", normalised(linear("second", first)).relu());
  }

  // The discriminator's loss without any reversal.
  torch::Tensor plain_adversarial(Method& method) {
    const auto images = torch::cat({batch().source_images, batch().target_images});
    const auto all = scores(*method.auxiliary_modules(), network_->forward(images).features);
    return 0.5 * (source_bce(all.narrow(0, 0, 4)).mean() + target_bce(all.narrow(0, 4, 3)).mean());
  }
};

TEST_F(DannTest, TheTotalIsThatOfTheFormula) {
  const auto method = make("dann", {{"adversarial-weight", "0.5"}});
  const auto logits = network_->forward(batch().source_images).logits;
  const auto expected =
      cross_entropies(logits, batch().source_labels).mean() + 0.5 * plain_adversarial(*method);
  expect_near(total(test::losses_of(*method, batch(), step_.context())), expected);
}

TEST_F(DannTest, FeaturesGetTheDiscriminatorsGradientReversedAndScaledByTheClock) {
  const auto method = make("dann");
  const auto neck = network_->neck_parameters().front();
  const auto plain = gradient(plain_adversarial(*method), neck);
  ASSERT_GT(plain.abs().max().item<double>(), 1e-6);
  for (const double clock : {0.0, 1000.0, 20'000.0}) {
    auto context = step_.context();
    context.clock = clock;
    const auto loss = term(test::losses_of(*method, batch(), context), "adversarial");
    const double coefficient = 2 / (1 + std::exp(-clock / 1000)) - 1;
    expect_near(gradient(loss, neck), -coefficient * plain);
  }
}

TEST_F(DannTest, TheDiscriminatorItselfIsNotReversed) {
  const auto method = make("dann");
  const auto weight = method->auxiliary_modules()->parameters().front();
  const auto loss = term(test::losses_of(*method, batch(), step_.context()), "adversarial");
  expect_near(gradient(loss, weight), gradient(plain_adversarial(*method), weight));
}

TEST_F(DannTest, PutsInABottleneckOnceAndNoneIfToldSo) {
  make("dann", {{"bottleneck", "0"}});
  EXPECT_EQ(network_->neck_layout(), "");
  make("dann", {{"bottleneck", "8"}});
  EXPECT_EQ(network_->neck_layout(), "linear 8, batch-norm, relu");
  const auto before = network_->neck_parameters().front().clone();
  make("dann", {{"bottleneck", "8"}});
  EXPECT_TRUE(torch::equal(network_->neck_parameters().front(), before));
  EXPECT_THROW(make("dann"), InvalidOption) << "of another size than the steps before had";
  EXPECT_THROW(make("dann", {{"bottleneck", "0"}}), InvalidOption);
}

}  // namespace
}  // namespace proca::methods
