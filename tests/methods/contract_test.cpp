// What every method promises, whatever it does: being registered is enough to be
// tested here.

#include <cmath>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "proca/methods/method.h"
#include "support/method_run.h"

namespace proca::methods {
namespace {

using test::MethodRun;
using Terms = std::vector<LossTerm>;

constexpr int64_t kEpochs = 3;

class MethodContractTest : public ::testing::TestWithParam<MethodSpec> {
 protected:
  // What would take many epochs happens in each of a few.
  static test::MethodOnNetwork build(int64_t num_classes) {
    return test::build_method(GetParam(), num_classes,
                              {{"source-epochs", "2"},
                               {"warm-up-epochs", "1"},
                               {"capture-first", "0"},
                               {"pseudo-labels-every", "1"},
                               {"centres-every", "1"}});
  }

  // A run as short as this has a clock that runs accordingly fast.
  static MethodRun::Options options(int64_t batch_size) {
    const auto iterations = static_cast<double>(GetParam().recipe.iterations);
    return {.epochs = kEpochs,
            .batch_size = batch_size,
            .clock_tick = std::max(1.0, iterations / (kEpochs * MethodRun::kIterations))};
  }

  static void expect_finite_scalars(const Terms& terms) {
    for (const auto& term : terms) {
      EXPECT_EQ(term.value.dim(), 0) << term.name;
      EXPECT_TRUE(std::isfinite(term.value.item<double>())) << term.name;
    }
  }

  // Goes through two steps and expects nothing but finite losses.
  static void expect_finite_run(int64_t num_classes, int64_t num_target, int64_t batch_size,
                                std::vector<int64_t> first, std::vector<int64_t> second) {
    auto built = build(num_classes);
    int64_t step = 0;
    for (auto& classes : {std::move(first), std::move(second)}) {
      test::FakeStep images(built.network, 16, num_target, classes);
      MethodRun run(built, images, options(batch_size));
      int64_t seen = 0;
      run.watch = [&](const StepContext&, const Terms& terms) {
        expect_finite_scalars(terms);
        seen += static_cast<int64_t>(terms.size());
      };
      run.run_step(step++);
      EXPECT_EQ(seen > 0, built.method->trains());
    }
  }
};

TEST_P(MethodContractTest, LossesAreFiniteScalarsOverTwoStepsInARow) {
  expect_finite_run(4, 8, 4, {1, 2}, {3, 0});
}

TEST_P(MethodContractTest, ManagesTinyBatches) { expect_finite_run(4, 2, 2, {3}, {1}); }

TEST_P(MethodContractTest, ManagesASingleClass) { expect_finite_run(1, 4, 2, {0}, {0}); }

TEST_P(MethodContractTest, GradientsOfTheFirstStepAreFiniteAndReachTheBackbone) {
  auto built = build(4);
  test::FakeStep images(built.network, 16, 8, {1, 2});
  MethodRun run(built, images, options(4));
  double reached = 0;
  run.watch = [&](const StepContext&, const Terms&) {
    for (const auto& item : built.network->named_parameters()) {
      if (!item.value().grad().defined()) continue;
      EXPECT_TRUE(torch::isfinite(item.value().grad()).all().item<bool>()) << item.key();
    }
    const auto& gradient = built.network->backbone_parameters().front().grad();
    if (gradient.defined()) reached += gradient.abs().sum().item<double>();
  };
  run.run_step(0);
  EXPECT_EQ(reached > 0, built.method->trains());
}

TEST_P(MethodContractTest, WhatIsSavedComesBackInAnotherObject) {
  auto first = build(4);
  test::FakeStep images(first.network, 16, 8, {1, 2});
  auto options = this->options(4);
  const test::RunPosition last = {0, first.method->extra_epochs(0) + kEpochs - 1, 1};

  // Stop in the middle of the last epoch, by when everything has happened once.
  MethodRun beginning(first, images, options);
  beginning.stop = [&](const StepContext& context) {
    return context.epoch == last.epoch && context.iteration + 1 == last.iteration;
  };
  ASSERT_FALSE(beginning.run_step(0));

  auto second = build(4);
  test::FakeStep same_images(second.network, 16, 8, {1, 2});
  test::copy_state(first, second);
  const auto saved = first.method->save(), again = second.method->save();
  ASSERT_EQ(again.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    ASSERT_TRUE(again.contains(name)) << name;
    EXPECT_TRUE(torch::equal(again.at(name), tensor)) << name;
  }

  options.start = last;
  const auto losses_of_rest = [&](test::MethodOnNetwork& built, test::FakeStep& step) {
    std::map<std::string, double> losses;
    MethodRun rest(built, step, options);
    rest.watch = [&](const StepContext&, const Terms& terms) {
      for (const auto& term : terms) losses[std::string(term.name)] = term.value.item<double>();
    };
    rest.run_step(0);
    return losses;
  };
  const auto losses = losses_of_rest(first, images);
  EXPECT_EQ(losses_of_rest(second, same_images), losses);
  EXPECT_EQ(!losses.empty(), first.method->trains());
}

// A CUDA graph is replayed without the host: the same tensors must give the same losses,
// whatever the context and the iterations in between.
TEST_P(MethodContractTest, LossesOfACudaGraphDependOnTensorsAlone) {
  auto built = build(4);
  if (!built.method->supports_cuda_graph()) return;
  test::FakeStep images(built.network, 16, 8, {1, 2});
  struct Kept {
    AdaptationBatch batch;
    StepContext context;
  };
  std::vector<Kept> kept;
  MethodRun run(built, images, options(4));
  run.watch_batch = [&](const AdaptationBatch& batch, const StepContext& context) {
    kept.push_back({batch, context});
  };
  run.run_step(0);
  ASSERT_FALSE(kept.empty());
  const auto losses = [&](const AdaptationBatch& batch, const StepContext& context) {
    torch::manual_seed(0);  // For dropout, which a replay samples anew, as it should.
    std::vector<double> values;
    for (const auto& term : built.method->compute_losses(batch, context)) {
      values.push_back(term.value.item<double>() * term.weight);
    }
    return values;
  };
  built.network->train();
  const auto& last = kept.back().context;
  for (const auto& [batch, context] : kept) {
    const auto expected = losses(batch, context);
    // In another context, and after other images.
    losses(kept.front().batch, kept.front().context);
    EXPECT_EQ(losses(batch, last), expected);
    EXPECT_EQ(losses(batch, StepContext()), expected);
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
