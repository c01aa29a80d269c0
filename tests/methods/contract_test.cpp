// What every method promises, whatever it does: being registered is enough to be
// tested here.

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "proca/methods/method.h"
#include "support/fake_step.h"

namespace proca::methods {
namespace {

constexpr int64_t kEpochs = 5;

// Goes through a step as the engine would, without training, and returns the terms
// of the last iteration.
std::vector<LossTerm> go_through_step(Method& method, test::FakeStep& step, StepContext context,
                                      models::ClassifierNetwork network, int64_t batch_size) {
  network->train();
  context.num_epochs = kEpochs;
  context.num_iterations = 2;
  context.batch_size = batch_size;
  method.begin_step(context);
  std::vector<LossTerm> terms;
  for (context.epoch = 0; context.epoch < kEpochs; ++context.epoch) {
    method.begin_epoch(context);
    for (context.iteration = 0; context.iteration < 2; ++context.iteration) {
      const int64_t first = context.iteration * batch_size;
      const int64_t count = std::min(batch_size, step.num_target() - first);
      if (count < 1) continue;
      terms = method.compute_losses(step.batch(first, batch_size, first, count), context);
    }
    method.end_epoch(context);
  }
  method.end_step(context);
  return terms;
}

struct Prepared {
  models::ClassifierNetwork network{nullptr};
  std::unique_ptr<Method> method;
};

Prepared prepare(const MethodSpec& spec, int64_t num_classes) {
  Prepared prepared;
  prepared.network = test::small_network(num_classes);
  OptionSet options;
  const auto factory = spec.configure(options);
  prepared.method = factory(prepared.network, 0);
  return prepared;
}

class MethodContractTest : public ::testing::TestWithParam<MethodSpec> {};

TEST_P(MethodContractTest, LossesAreFiniteScalarsAndReachTheWholeNetwork) {
  auto [network, method] = prepare(GetParam(), 4);
  test::FakeStep step(network, 16, 8, {1, 2});
  const auto terms = go_through_step(*method, step, step.context(), network, 4);
  if (!method->trains()) {
    EXPECT_TRUE(terms.empty());
    return;
  }
  ASSERT_FALSE(terms.empty());
  auto total = torch::zeros({});
  for (const auto& term : terms) {
    EXPECT_EQ(term.value.dim(), 0) << term.name;
    EXPECT_TRUE(torch::isfinite(term.value).item<bool>()) << term.name;
    total = total + term.weight * term.value;
  }
  total.backward();
  for (const auto& item : network->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(torch::isfinite(item.value().grad()).all().item<bool>()) << item.key();
  }
  EXPECT_GT(network->backbone_parameters().front().grad().abs().sum().item<double>(), 0);
}

TEST_P(MethodContractTest, WhatIsSavedComesBackInAnotherObject) {
  auto first = prepare(GetParam(), 4);
  test::FakeStep step(first.network, 16, 8, {1, 2});
  auto context = step.context();
  go_through_step(*first.method, step, context, first.network, 4);
  const auto saved = first.method->save();

  OptionSet options;
  const auto second = GetParam().configure(options)(first.network, 0);
  if (auto* memory = second->memory()) memory->load(first.method->memory()->save());
  second->load(saved);
  const auto again = second->save();
  ASSERT_EQ(again.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    EXPECT_TRUE(torch::equal(again.at(name), tensor)) << name;
  }
  if (!first.method->trains()) return;
  context.epoch = kEpochs - 1;
  context.num_iterations = 2;
  context.iteration = 1;
  first.network->eval();  // Twice the same statistics.
  const auto batch = step.batch(0, 4, 0, 4);
  const auto terms = first.method->compute_losses(batch, context);
  const auto terms_again = second->compute_losses(batch, context);
  ASSERT_EQ(terms_again.size(), terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    EXPECT_EQ(terms_again[i].value.item<double>(), terms[i].value.item<double>()) << terms[i].name;
  }
}

TEST_P(MethodContractTest, ManagesTinyBatches) {
  auto [network, method] = prepare(GetParam(), 4);
  test::FakeStep step(network, 16, 1, {3});
  for (const auto& term : go_through_step(*method, step, step.context(), network, 1)) {
    EXPECT_TRUE(torch::isfinite(term.value).item<bool>()) << term.name;
  }
}

TEST_P(MethodContractTest, ManagesASingleClass) {
  auto [network, method] = prepare(GetParam(), 1);
  test::FakeStep step(network, 8, 4, {0});
  for (const auto& term : go_through_step(*method, step, step.context(), network, 2)) {
    EXPECT_TRUE(torch::isfinite(term.value).item<bool>()) << term.name;
  }
}

INSTANTIATE_TEST_SUITE_P(AllMethods, MethodContractTest, ::testing::ValuesIn(all_methods()),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace proca::methods
