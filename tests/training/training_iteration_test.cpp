#include "training/training_iteration.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include "proca/core/error.h"
#include "proca/losses/cross_entropy.h"

namespace proca::training {
namespace {

using Batch = TrainingIteration::Batch;
using Terms = std::vector<methods::LossTerm>;

// Replays by calling again: what a GPU does with the same memory, the host does here.
class CallAgain final : public compute::CudaGraphCapturer {
 public:
  explicit CallAgain(int64_t& captures) : captures_(captures) {}

  std::unique_ptr<compute::CudaGraph> capture(const std::function<void()>& work) override {
    ++captures_;
    return std::make_unique<Again>(work);
  }

 private:
  struct Again final : compute::CudaGraph {
    explicit Again(std::function<void()> work) : work(std::move(work)) {}
    void replay() override { work(); }
    std::function<void()> work;
  };
  int64_t& captures_;
};

class CannotCapture final : public compute::CudaGraphCapturer {
 public:
  std::unique_ptr<compute::CudaGraph> capture(const std::function<void()>&) override {
    throw Error("it waits for the device");
  }
};

// A linear classifier, trained on made-up batches of changing size.
struct Iteration {
  Iteration() : layer(3, 2) {
    const torch::NoGradGuard no_grad;
    layer->weight.copy_(torch::arange(6).view({2, 3}).to(torch::kFloat32) / 10);
    layer->bias.zero_();
  }

  static Batch batch(int64_t number) {
    const int64_t size = number % 3 == 2 ? 2 : 4;  // The last of three is smaller.
    const auto values = torch::arange(size * 3).view({size, 3}).to(torch::kFloat32) / 7;
    return {.source_images = (values + static_cast<double>(number)).cos(),
            .source_labels = torch::arange(size) % 2,
            .inputs = {{"factor", torch::full({}, 1.0 + static_cast<double>(number))}}};
  }

  // Trains until the smaller batch has come often enough too, with a rate that falls.
  std::map<std::string, double> train(std::unique_ptr<compute::CudaGraphCapturer> capturer) {
    TrainingIteration iteration(
        {Sgd({{layer->parameters(), 0.1, 0.01}}, 0.9), {}},
        [&](const Batch& batch, const std::string&) -> Terms {
          EXPECT_FALSE(batch.target_images.defined());
          const auto logits = layer->forward(batch.source_images) * batch.inputs.at("factor");
          return {{"classes", losses::cross_entropy(logits, batch.source_labels), 2.0},
                  {"watched", logits.square().mean(), 0.0}};
        },
        {}, torch::kCPU, std::move(capturer));
    for (int64_t i = 0; i < 3 * TrainingIteration::kCaptureAfter + 5; ++i) {
      iteration.run(batch(i), 1.0 / static_cast<double>(1 + i));
    }
    return iteration.take_means();
  }

  torch::nn::Linear layer;
};

TEST(TrainingIterationTest, CapturedIterationsTrainLikeOthers) {
  Iteration plain, captured;
  int64_t captures = 0;
  const auto expected = plain.train(nullptr);
  const auto means = captured.train(std::make_unique<CallAgain>(captures));
  EXPECT_EQ(captures, 2);  // One for each size.
  EXPECT_EQ(means, expected);
  EXPECT_TRUE(torch::equal(captured.layer->weight, plain.layer->weight));
  EXPECT_TRUE(torch::equal(captured.layer->bias, plain.layer->bias));
}

TEST(TrainingIterationTest, GraphsOfShapesThatDidNotComeAreDropped) {
  auto weight = torch::zeros({}).set_requires_grad(true);
  int64_t captures = 0;
  TrainingIteration iteration(
      {Sgd({{{weight}, 0.0, 0.0}}, 0), {}},
      [&](const Batch& batch, const std::string&) -> Terms {
        return {{"value", (batch.source_images * (1 + weight)).sum()}};
      },
      {}, torch::kCPU, std::make_unique<CallAgain>(captures));
  const auto run = [&](int64_t size, int64_t times) {
    for (int64_t i = 0; i < times; ++i) iteration.run({.source_images = torch::ones({size})}, 1);
  };
  run(1, TrainingIteration::kCaptureAfter + 1);
  run(2, TrainingIteration::kCaptureAfter + 1);
  EXPECT_EQ(captures, 2);
  iteration.reset();
  EXPECT_TRUE(iteration.sums().empty());
  run(1, TrainingIteration::kCaptureAfter + 1);
  EXPECT_EQ(captures, 2);  // It is still there.
  EXPECT_EQ(iteration.take_means().at("value"), 1);
  iteration.reset();
  run(2, TrainingIteration::kCaptureAfter + 1);
  EXPECT_EQ(captures, 3);  // It had to be done again.
  EXPECT_EQ(iteration.take_means().at("value"), 2);
}

TEST(TrainingIterationTest, ContinuesWhenNothingCanBeCaptured) {
  Iteration plain, failing;
  const auto expected = plain.train(nullptr);
  EXPECT_EQ(failing.train(std::make_unique<CannotCapture>()), expected);
  EXPECT_TRUE(torch::equal(failing.layer->weight, plain.layer->weight));
}

TEST(TrainingIterationTest, MeansAreOverTheIterationsSinceTheLastTime) {
  auto weight = torch::zeros({}).set_requires_grad(true);
  TrainingIteration iteration(
      {Sgd({{{weight}, 0.0, 0.0}}, 0), {}},
      [&](const Batch& batch, const std::string&) -> Terms {
        return {{"value", (batch.source_images + weight).sum()}};
      },
      {}, torch::kCPU, nullptr);
  EXPECT_TRUE(iteration.take_means().empty());
  iteration.run({.source_images = torch::tensor({1.0F})}, 1);
  iteration.run({.source_images = torch::tensor({4.0F})}, 1);
  EXPECT_EQ(iteration.take_means(), (std::map<std::string, double>{{"value", 2.5}}));
  EXPECT_TRUE(iteration.sums().empty());
  iteration.run({.source_images = torch::tensor({7.0F})}, 1);
  EXPECT_EQ(iteration.take_means(), (std::map<std::string, double>{{"value", 7.0}}));
}

TEST(TrainingIterationTest, SumsCanBeSavedAndTakenUp) {
  auto weight = torch::zeros({}).set_requires_grad(true);
  const auto losses = [&](const Batch& batch, const std::string&) -> Terms {
    return {{"value", (batch.source_images + weight).sum()}};
  };
  const Optimizers optimizers{Sgd({{{weight}, 0.0, 0.0}}, 0), {}};
  TrainingIteration first(optimizers, losses, {}, torch::kCPU, nullptr);
  first.run({.source_images = torch::tensor({1.0F})}, 1);
  TrainingIteration second(optimizers, losses, {}, torch::kCPU, nullptr);
  second.set_sums(first.sums());
  second.run({.source_images = torch::tensor({2.0F})}, 1);
  EXPECT_EQ(second.take_means().at("value"), 1.5);
}

// f = a^2 + b. SGD at the rate 0.5 takes a from 1 to 0; Adam's first update of b is its rate,
// nearly. The second phase is computed on the weights that the first has left.
TEST(TrainingIterationTest, PhasesMinimiseOneAfterTheOtherEachWithItsOwnOptimiser) {
  auto a = torch::ones({}).set_requires_grad(true), b = torch::zeros({}).set_requires_grad(true);
  Optimizers optimizers{Sgd({{{a}, 0.5, 0.0}}, 0), {}};
  optimizers.own.emplace("own", Adam({b}, 0.25));
  std::vector<double> seen;
  TrainingIteration iteration(
      optimizers,
      [&](const Batch&, const std::string& phase) -> Terms {
        seen.push_back(a.item<double>());
        return {{phase.empty() ? "first" : "second", a * a + b}};
      },
      {}, torch::kCPU, nullptr);
  iteration.run({}, 1, {"", "own"});
  EXPECT_EQ(seen, (std::vector<double>{1, 0}));
  EXPECT_EQ(a.item<double>(), 0);
  EXPECT_NEAR(b.item<double>(), -0.25, 1e-6);
  EXPECT_EQ(iteration.take_means(), (std::map<std::string, double>{{"first", 1}, {"second", 0}}));

  auto state = iteration.optimizers().state();
  EXPECT_TRUE(state.contains("own.mean.0"));
  EXPECT_TRUE(state.contains("momentum.0"));
  iteration.optimizers().load_state(state);
  iteration.reset();
  EXPECT_FALSE(iteration.optimizers().state().contains("own.mean.0"));
}

TEST(CudaGraphCapturerForTest, OnIsRefusedWhereNothingCanBeCaptured) {
  compute::ComputeOptions compute;
  EXPECT_EQ(cuda_graph_capturer_for(compute, torch::kCPU, true, "it"), nullptr);
  compute.graph = compute::GraphMode::kOn;
  EXPECT_THROW(cuda_graph_capturer_for(compute, torch::kCPU, true, "it"), InvalidOption);
  EXPECT_THROW(cuda_graph_capturer_for(compute, torch::kCPU, false, "it"), InvalidOption);
  compute.graph = compute::GraphMode::kOff;
  EXPECT_EQ(cuda_graph_capturer_for(compute, torch::kCPU, false, "it"), nullptr);
}

}  // namespace
}  // namespace proca::training
