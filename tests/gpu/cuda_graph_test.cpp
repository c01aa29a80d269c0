#include "compute/cuda_graph.h"

#include <torch/nn/modules/linear.h>

#include "gpu/gpu_test.h"
#include "proca/losses/cross_entropy.h"
#include "training/training_iteration.h"

namespace proca {
namespace {

using test::largest_error;
using training::TrainingIteration;

class GpuGraphTest : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (IsSkipped()) return;
    capturer_ = compute::make_cuda_graph_capturer(gpu_);
    if (!capturer_) GTEST_SKIP() << "built without a CUDA compiler, or LibTorch before 2.4";
  }

  std::unique_ptr<compute::CudaGraphCapturer> capturer_;
};

TEST_F(GpuGraphTest, ReplayComputesWhatEagerExecutionDoes) {
  const auto input = torch::randn({64, 64}, gpu_), output = torch::zeros({64, 64}, gpu_);
  const auto work = [&] { output.copy_(torch::mm(input, input).relu() + 1); };
  work();  // Loads its kernels.
  output.zero_();
  const auto graph = capturer_->capture(work);
  EXPECT_EQ(output.abs().sum().item<float>(), 0) << "captured, not run";
  for (const int factor : {1, 3}) {
    input.mul_(factor);
    graph->replay();
    EXPECT_TRUE(torch::equal(output, torch::mm(input, input).relu() + 1)) << factor;
  }
}

TEST_F(GpuGraphTest, GraphsMayBeReplayedInTurns) {
  const auto input = torch::ones({8}, gpu_), first = torch::zeros({8}, gpu_),
             second = torch::zeros({8}, gpu_);
  const auto one = capturer_->capture([&] { first.copy_((input * 2).exp()); });
  const auto other = capturer_->capture([&] { second.copy_((input + 5).exp()); });
  for (int i = 0; i < 3; ++i) {
    input.add_(0.25);
    one->replay();
    other->replay();
    EXPECT_TRUE(torch::equal(first, (input * 2).exp()));
    EXPECT_TRUE(torch::equal(second, (input + 5).exp()));
  }
}

TEST_F(GpuGraphTest, WhatWaitsForTheDeviceCannotBeCaptured) {
  const auto input = torch::ones({4}, gpu_);
  EXPECT_ANY_THROW(capturer_->capture([&] { input.sum().item<float>(); }));
  EXPECT_EQ(input.sum().item<float>(), 4) << "the device still works";
  const auto graph = capturer_->capture([&] { input.add_(1); });
  graph->replay();
  EXPECT_EQ(input.sum().item<float>(), 8);
}

// Trains a linear classifier with a falling learning rate; `read_back` makes every iteration
// wait for the device, which no graph can.
std::map<std::string, torch::Tensor> train(const torch::Device& device,
                                           std::unique_ptr<compute::CudaGraphCapturer> capturer,
                                           bool read_back = false) {
  torch::manual_seed(1);
  torch::nn::Linear layer(16, 4);
  layer->to(device);
  training::Sgd sgd({{layer->parameters(), 0.1, 0.01}}, 0.9);
  TrainingIteration iteration(
      training::Optimizers{std::move(sgd), {}},
      [&](const TrainingIteration::Batch& batch,
          const std::string&) -> std::vector<methods::LossTerm> {
        const auto loss =
            losses::cross_entropy(layer->forward(batch.source_images), batch.source_labels);
        if (read_back) loss.item<double>();
        return {{"classes", loss, 2.0}};
      },
      {}, device, std::move(capturer));
  const auto images = torch::randn({8, 16}).to(device);
  for (int64_t i = 0; i < TrainingIteration::kCaptureAfter + 12; ++i) {
    iteration.run({.source_images = images + static_cast<double>(i) / 10,
                   .source_labels = torch::arange(8, device) % 4},
                  1.0 / static_cast<double>(1 + i));
  }
  return {{"weight", layer->weight.detach()},
          {"bias", layer->bias.detach()},
          {"loss", torch::tensor(iteration.take_means().at("classes"))}};
}

TEST_F(GpuGraphTest, CapturedIterationsTrainLikeEagerOnes) {
  const auto eager = train(gpu_, nullptr), captured = train(gpu_, std::move(capturer_));
  for (const auto& [name, expected] : eager) {
    EXPECT_LT(largest_error(captured.at(name), expected), 1e-5) << name;
  }
}

TEST_F(GpuGraphTest, TrainingThatCannotBeCapturedGoesOnWithoutAGraph) {
  const auto eager = train(gpu_, nullptr);
  const auto fallback = train(gpu_, std::move(capturer_), /*read_back=*/true);
  for (const auto& [name, expected] : eager) {
    EXPECT_LT(largest_error(fallback.at(name), expected), 1e-5) << name;
  }
}

}  // namespace
}  // namespace proca
