#include "training/training_iteration.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include "proca/core/error.h"
#include "proca/losses/cross_entropy.h"

namespace proca::training {
namespace {

using Tensors = TrainingIteration::Tensors;

// Repeats by calling again: what a GPU does with the same memory, the host does here.
class CallAgain final : public compute::CudaGraphCapturer {
 public:
  explicit CallAgain(int64_t& recordings) : recordings_(recordings) {}

  std::unique_ptr<compute::CudaGraph> capture(const std::function<void()>& work) override {
    ++recordings_;
    return std::make_unique<Again>(work);
  }

 private:
  struct Again final : compute::CudaGraph {
    explicit Again(std::function<void()> work) : work(std::move(work)) {}
    void replay() override { work(); }
    std::function<void()> work;
  };
  int64_t& recordings_;
};

class CannotRecord final : public compute::CudaGraphCapturer {
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

  static Tensors batch(int64_t number) {
    const int64_t size = number % 3 == 2 ? 2 : 4;  // The last of three is smaller.
    const auto values = torch::arange(size * 3).view({size, 3}).to(torch::kFloat32) / 7;
    return {(values + static_cast<double>(number)).cos(), torch::arange(size) % 2, {}};
  }

  // Trains until the smaller batch has come often enough too, with a rate that falls.
  std::map<std::string, double> train(std::unique_ptr<compute::CudaGraphCapturer> capturer) {
    Sgd optimizer({{layer->parameters(), 0.1, 0.01}}, 0.9);
    TrainingIteration iteration(
        optimizer,
        [&](const Tensors& inputs) -> std::vector<methods::LossTerm> {
          EXPECT_FALSE(inputs[2].defined());
          const auto logits = layer->forward(inputs[0]);
          return {{"classes", losses::cross_entropy(logits, inputs[1]), 2.0},
                  {"watched", logits.square().mean(), 0.0}};
        },
        {}, torch::kCPU, std::move(capturer));
    for (int64_t i = 0; i < 3 * TrainingIteration::kRecordAfter + 5; ++i) {
      iteration.run(batch(i), 1.0 / static_cast<double>(1 + i));
    }
    return iteration.take_means();
  }

  torch::nn::Linear layer;
};

TEST(TrainingIterationTest, RecordedIterationsTrainLikeOthers) {
  Iteration plain, recorded;
  int64_t recordings = 0;
  const auto expected = plain.train(nullptr);
  const auto means = recorded.train(std::make_unique<CallAgain>(recordings));
  EXPECT_EQ(recordings, 2);  // One for each size.
  EXPECT_EQ(means, expected);
  EXPECT_TRUE(torch::equal(recorded.layer->weight, plain.layer->weight));
  EXPECT_TRUE(torch::equal(recorded.layer->bias, plain.layer->bias));
}

TEST(TrainingIterationTest, WhatDidNotComeInATrainingIsForgotten) {
  auto weight = torch::zeros({}).set_requires_grad(true);
  Sgd optimizer({{{weight}, 0.0, 0.0}}, 0);
  int64_t recordings = 0;
  TrainingIteration iteration(
      optimizer,
      [&](const Tensors& inputs) -> std::vector<methods::LossTerm> {
        return {{"value", (inputs[0] * (1 + weight)).sum()}};
      },
      {}, torch::kCPU, std::make_unique<CallAgain>(recordings));
  const auto run = [&](int64_t size, int64_t times) {
    for (int64_t i = 0; i < times; ++i) iteration.run({torch::ones({size})}, 1);
  };
  run(1, TrainingIteration::kRecordAfter + 1);
  run(2, TrainingIteration::kRecordAfter + 1);
  EXPECT_EQ(recordings, 2);
  iteration.begin_anew();
  EXPECT_TRUE(iteration.sums().empty());
  run(1, TrainingIteration::kRecordAfter + 1);
  EXPECT_EQ(recordings, 2);  // It is still there.
  EXPECT_EQ(iteration.take_means().at("value"), 1);
  iteration.begin_anew();
  run(2, TrainingIteration::kRecordAfter + 1);
  EXPECT_EQ(recordings, 3);  // It had to be done again.
  EXPECT_EQ(iteration.take_means().at("value"), 2);
}

TEST(TrainingIterationTest, GoesOnWhenNothingCanBeRecorded) {
  Iteration plain, failing;
  const auto expected = plain.train(nullptr);
  EXPECT_EQ(failing.train(std::make_unique<CannotRecord>()), expected);
  EXPECT_TRUE(torch::equal(failing.layer->weight, plain.layer->weight));
}

TEST(TrainingIterationTest, MeansAreOverTheIterationsSinceTheLastTime) {
  auto weight = torch::zeros({}).set_requires_grad(true);
  Sgd optimizer({{{weight}, 0.0, 0.0}}, 0);
  TrainingIteration iteration(
      optimizer,
      [&](const Tensors& inputs) -> std::vector<methods::LossTerm> {
        return {{"value", (inputs[0] + weight).sum()}};
      },
      {}, torch::kCPU, nullptr);
  EXPECT_TRUE(iteration.take_means().empty());
  iteration.run({torch::tensor({1.0F})}, 1);
  iteration.run({torch::tensor({4.0F})}, 1);
  EXPECT_EQ(iteration.take_means(), (std::map<std::string, double>{{"value", 2.5}}));
  EXPECT_TRUE(iteration.sums().empty());
  iteration.run({torch::tensor({7.0F})}, 1);
  EXPECT_EQ(iteration.take_means(), (std::map<std::string, double>{{"value", 7.0}}));
}

TEST(TrainingIterationTest, SumsCanBeSavedAndTakenUp) {
  auto weight = torch::zeros({}).set_requires_grad(true);
  Sgd optimizer({{{weight}, 0.0, 0.0}}, 0);
  const auto losses = [&](const Tensors& inputs) -> std::vector<methods::LossTerm> {
    return {{"value", (inputs[0] + weight).sum()}};
  };
  TrainingIteration first(optimizer, losses, {}, torch::kCPU, nullptr);
  first.run({torch::tensor({1.0F})}, 1);
  TrainingIteration second(optimizer, losses, {}, torch::kCPU, nullptr);
  second.set_sums(first.sums());
  second.run({torch::tensor({2.0F})}, 1);
  EXPECT_EQ(second.take_means().at("value"), 1.5);
}

TEST(CudaGraphCapturerForTest, OnIsRefusedWhereNothingCanBeRecorded) {
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
