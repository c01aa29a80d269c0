#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "proca/methods/method.h"
#include "support/fake_step.h"

namespace proca::methods {

/// What the tests of adversarial methods share: a small network in evaluation mode, so
/// that nothing is dropped out and batch-norm is a constant, and the losses' parts
/// computed once more, without the library's loss functions.
class AdversarialCase : public ::testing::Test {
 protected:
  static constexpr int64_t kClasses = 4;

  AdversarialCase() { network_->eval(); }

  std::unique_ptr<Method> make(
      const std::string& name,
      const std::vector<std::pair<std::string, std::string>>& values = {}) {
    OptionSet options;
    const auto factory = find_method(name).configure(options);
    for (const auto& [option, value] : values) options.assign(option, {value});
    auto method = factory(network_, 0);
    network_->eval();  // The new layers too.
    return method;
  }

  /// With these probabilities for the target.
  StepContext context_with(const torch::Tensor& probabilities) {
    auto context = step_.context();
    context.predict_target = [probabilities](ModelChoice choice) -> Predictions {
      EXPECT_EQ(choice, ModelChoice::kCurrent);
      return {probabilities, {}};
    };
    return context;
  }

  /// Source images 0 to 3 have the labels 0 to 3.
  AdaptationBatch batch() const { return step_.batch(0, 4, 0, 3); }

  /// The logits of an MLP with two hidden layers and ReLU; `prefix` names it in `module`.
  static torch::Tensor mlp(const torch::nn::Module& module, const torch::Tensor& features,
                           const std::string& prefix = "") {
    const auto parameters = module.named_parameters();
    const auto linear = [&](const std::string& layer, const torch::Tensor& x) {
      return torch::matmul(x, parameters[prefix + layer + ".weight"].t()) +
             parameters[prefix + layer + ".bias"];
    };
    return linear("last", linear("second", linear("first", features).relu()).relu());
  }

  /// -log sigmoid(z) and -log(1 - sigmoid(z)) of every score.
  static torch::Tensor source_bce(const torch::Tensor& scores) {
    return -torch::sigmoid(scores.flatten()).log();
  }
  static torch::Tensor target_bce(const torch::Tensor& scores) {
    return -(1 - torch::sigmoid(scores.flatten())).log();
  }

  static torch::Tensor cross_entropies(const torch::Tensor& logits, const torch::Tensor& labels) {
    return -torch::softmax(logits, 1).gather(1, labels.unsqueeze(1)).squeeze(1).log();
  }

  static torch::Tensor entropies(const torch::Tensor& logits) {
    const auto p = torch::softmax(logits, 1);
    return -(p * (p + 1e-20).log()).sum(1);
  }

  static torch::Tensor total(const std::vector<LossTerm>& terms) {
    auto sum = torch::zeros({});
    for (const auto& term : terms) sum = sum + term.weight * term.value;
    return sum;
  }

  static torch::Tensor term(const std::vector<LossTerm>& terms, std::string_view name) {
    for (const auto& term : terms) {
      if (term.name == name) return term.value;
    }
    ADD_FAILURE() << "no term " << name;
    return {};
  }

  /// Undefined where the loss does not depend on the parameter.
  static torch::Tensor gradient(const torch::Tensor& loss, const torch::Tensor& parameter) {
    return torch::autograd::grad({loss}, {parameter}, {}, /*retain_graph=*/true,
                                 /*create_graph=*/false, /*allow_unused=*/true)[0];
  }

  static void expect_near(const torch::Tensor& value, const torch::Tensor& expected) {
    // float, through a network
    const double tolerance = 1e-4 * expected.abs().max().item<double>();
    EXPECT_TRUE(torch::allclose(value, expected, 0, tolerance)) << value << " and " << expected;
  }

  models::ClassifierNetwork network_ = test::small_network(kClasses);
  test::FakeStep step_{network_, 16, 8, {0, 1}};
};

}  // namespace proca::methods
