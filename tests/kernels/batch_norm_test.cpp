#include "kernels/batch_norm.h"

#include <numeric>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/types.h>

#include "kernels/batch_norm_kernels.h"
#include "support/formula.h"
#include "support/gradcheck.h"

namespace proca::kernels {
namespace {

// Float32 against float64.
constexpr double kLayerTolerance = 1e-5;

torch::Tensor values_of(const std::string& name, torch::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (4 * test::uniform_formula(name, count) - 2).view(shape).to(torch::kFloat32);
}

// A layer whose tensors are all different.
BatchNorm layer_of(int64_t channels) {
  BatchNorm layer(channels);
  torch::NoGradGuard no_grad;
  layer->weight.copy_(values_of("weight", {channels}));
  layer->bias.copy_(0.3 * values_of("bias", {channels}));
  layer->running_mean.copy_(values_of("mean", {channels}));
  layer->running_var.copy_(2 + values_of("var", {channels}).abs());
  return layer;
}

// Everything that comes out of a layer.
struct LayerOutcome {
  torch::Tensor output, values, residual, weight, bias, running_mean, running_var, num_batches;
};

void expect_same(const LayerOutcome& actual, const LayerOutcome& expected, double tolerance) {
  const auto same = [&](const char* what, const torch::Tensor& a, const torch::Tensor& b) {
    SCOPED_TRACE(what);
    ASSERT_EQ(a.defined(), b.defined());
    if (!a.defined()) return;
    ASSERT_EQ(a.sizes(), b.sizes());
    EXPECT_LE(test::largest_difference(a, b), tolerance);
  };
  same("output", actual.output, expected.output);
  same("gradient of the values", actual.values, expected.values);
  same("gradient of the residual", actual.residual, expected.residual);
  same("gradient of the weight", actual.weight, expected.weight);
  same("gradient of the bias", actual.bias, expected.bias);
  same("running mean", actual.running_mean, expected.running_mean);
  same("running variance", actual.running_var, expected.running_var);
  same("number of batches", actual.num_batches, expected.num_batches);
}

struct LayerCase {
  std::vector<int64_t> groups;
  int64_t channels = 16;
  std::vector<int64_t> image = {5, 6};  // height and width; empty for [N, C]
  bool relu = false;
  bool residual = false;
  torch::MemoryFormat format = torch::MemoryFormat::ChannelsLast;
  double mean = 0;  // added to the values

  std::vector<int64_t> shape() const {
    std::vector<int64_t> shape = {std::accumulate(groups.begin(), groups.end(), int64_t{0}),
                                  channels};
    shape.insert(shape.end(), image.begin(), image.end());
    return shape;
  }
  torch::Tensor tensor(const std::string& name) const {
    auto tensor = values_of(name, shape());
    return image.empty() ? tensor : tensor.contiguous(format);
  }
  std::string text() const {
    return c10::str(at::IntArrayRef(shape()), " in ", groups.size(), " groups",
                    relu ? ", relu" : "", residual ? ", residual" : "", ", ", format);
  }
};

// `run(layer, values, residual)` with gradients from a sum with fixed weights.
template <typename Run>
LayerOutcome outcome_of(const LayerCase& test_case, const Run& run) {
  auto layer = layer_of(test_case.channels);
  auto values = (test_case.tensor("values") + test_case.mean).set_requires_grad(true);
  torch::Tensor residual;
  if (test_case.residual) residual = test_case.tensor("residual").set_requires_grad(true);
  const auto output = run(layer, values, residual);
  (output * test_case.tensor("gradient")).sum().backward();
  return {output,
          values.grad(),
          test_case.residual ? residual.grad() : torch::Tensor(),
          layer->weight.grad(),
          layer->bias.grad(),
          layer->running_mean,
          layer->running_var,
          layer->num_batches_tracked};
}

LayerOutcome fused(const LayerCase& test_case) {
  return outcome_of(test_case, [&](BatchNorm& layer, const auto& values, const auto& residual) {
    return layer->forward(values, test_case.groups, {.relu = test_case.relu, .residual = residual});
  });
}

// LibTorch's own layer in float64, called on one group after the other.
LayerOutcome one_by_one(const LayerCase& test_case) {
  return outcome_of(test_case, [&](BatchNorm& layer, const auto& values, const auto& residual) {
    torch::nn::BatchNorm2d four(test_case.channels);
    torch::nn::BatchNorm1d two(test_case.channels);
    const auto share = [&](auto& module) {
      module->weight = layer->weight.to(torch::kFloat64);
      module->bias = layer->bias.to(torch::kFloat64);
      module->running_mean = layer->running_mean = layer->running_mean.to(torch::kFloat64);
      module->running_var = layer->running_var = layer->running_var.to(torch::kFloat64);
      module->num_batches_tracked = layer->num_batches_tracked;
    };
    share(four);
    share(two);
    std::vector<torch::Tensor> outputs;
    for (const auto& group : values.to(torch::kFloat64).split_with_sizes(test_case.groups)) {
      outputs.push_back(test_case.image.empty() ? two->forward(group) : four->forward(group));
    }
    auto output = torch::cat(outputs);
    if (residual.defined()) output = output + residual;
    return test_case.relu ? output.relu() : output;
  });
}

TEST(BatchNormTest, MatchesHandComputedValues) {
  BatchNorm layer(2);
  torch::NoGradGuard no_grad;
  layer->weight.copy_(torch::tensor({1.0, 2.0}));
  layer->bias.copy_(torch::tensor({0.0, 1.0}));
  // Two groups of two. First channel: (1, 3) has mean 2, variance 1; (10, 14) mean 12,
  // variance 4. Second channel: (0, 0) and (2, 6), mean 4, variance 4.
  const auto values = torch::tensor({{1.0, 0.0}, {3.0, 0.0}, {10.0, 2.0}, {14.0, 6.0}});
  const auto output = layer->forward(values.to(torch::kFloat32), {2, 2}, {});
  // -1, 1, -1, 1; 2 * 0 + 1 twice, 2 * -1 + 1, 2 * 1 + 1; the epsilon of 1e-5 changes the sixth
  // digit.
  const auto expected = torch::tensor({{-1.0, 1.0}, {1.0, 1.0}, {-1.0, -1.0}, {1.0, 3.0}});
  EXPECT_LT(test::largest_difference(output, expected), 1e-5);
  // 0.9 * (0.9 * 0 + 0.1 * 2) + 0.1 * 12 = 1.38; 0 and 0.4.
  EXPECT_LT(test::largest_difference(layer->running_mean, torch::tensor({1.38, 0.4})), 1e-6);
  // Unbiased variances 2 and 8: 0.9 * (0.9 + 0.2) + 0.8 = 1.79; 0 and 8: 0.81 + 0.8 = 1.61.
  EXPECT_LT(test::largest_difference(layer->running_var, torch::tensor({1.79, 1.61})), 1e-6);
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 2);
}

TEST(BatchNormTest, ReluComesAfterTheResidual) {
  BatchNorm layer(1);
  torch::NoGradGuard no_grad;
  // Normalised: -1 and 1. Plus 3 and -2: 2 and -1.
  const auto output = layer->forward(torch::tensor({{0.0F}, {2.0F}}), {},
                                     {.relu = true, .residual = torch::tensor({{3.0F}, {-2.0F}})});
  EXPECT_LT(test::largest_difference(output, torch::tensor({{2.0}, {0.0}})), 1e-4);
}

TEST(BatchNormTest, AgreesWithSeparateLayers) {
  const std::vector<std::vector<int64_t>> groupings = {{9}, {12, 8}, {8, 13, 9}};
  for (const auto& groups : groupings) {
    for (const int64_t channels : {1, 3, 10, 16, 200}) {
      for (const bool relu : {false, true}) {
        for (const bool residual : {false, true}) {
          for (const auto& image : std::vector<std::vector<int64_t>>{{}, {5, 6}, {1, 1}}) {
            const LayerCase test_case{groups, channels, image, relu, residual};
            SCOPED_TRACE(test_case.text());
            expect_same(fused(test_case), one_by_one(test_case), kLayerTolerance);
          }
        }
      }
    }
  }
}

// Large enough for many chunks and many threads.
TEST(BatchNormTest, AgreesWithSeparateLayersOnLargeImages) {
  for (const bool residual : {false, true}) {
    const LayerCase test_case{{3, 8}, 10, {61, 67}, /*relu=*/true, residual};
    expect_same(fused(test_case), one_by_one(test_case), kLayerTolerance);
  }
}

TEST(BatchNormTest, TakesAnyMemoryLayout) {
  LayerCase test_case{{4, 2}, 10, {5, 6}, /*relu=*/true, /*residual=*/true};
  const auto expected = fused(test_case);
  test_case.format = torch::MemoryFormat::Contiguous;
  expect_same(fused(test_case), expected, 0);
  EXPECT_TRUE(expected.output.is_contiguous(torch::MemoryFormat::ChannelsLast));
}

TEST(BatchNormTest, TheResultDoesNotDependOnTheNumberOfThreads) {
  const LayerCase test_case{{5, 3}, 24, {40, 40}, /*relu=*/true, /*residual=*/true};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const auto expected = fused(test_case);
  for (const int threads : {2, 3, 7}) {
    at::set_num_threads(threads);
    expect_same(fused(test_case), expected, 0);
  }
  at::set_num_threads(before);
}

TEST(BatchNormTest, AGroupsResultDoesNotDependOnTheOthers) {
  const LayerCase both{{5, 3}, 24, {30, 30}, /*relu=*/true};
  const auto together = fused(both);
  auto layer = layer_of(24);
  const auto alone = layer->forward(both.tensor("values").narrow(0, 5, 3), {}, {.relu = true});
  EXPECT_TRUE(together.output.narrow(0, 5, 3).equal(alone));
}

TEST(BatchNormTest, KeepsItsDigitsWhereTheMeanIsLargeComparedWithTheSpread) {
  LayerCase test_case{{6}, 8, {20, 20}};
  test_case.mean = 1000;
  torch::NoGradGuard no_grad;
  const auto values = test_case.tensor("values") + test_case.mean;
  auto layer = layer_of(8);
  layer->weight.fill_(1.0);
  layer->bias.fill_(0.0);
  layer->forward(values);
  const auto exact = values.to(torch::kFloat64).var({0, 2, 3}, /*unbiased=*/true);
  const auto expected = 0.9 * layer_of(8)->running_var.to(torch::kFloat64) + 0.1 * exact;
  EXPECT_LT(test::largest_difference(layer->running_var, expected), 1e-6);
}

TEST(BatchNormTest, AChannelWithoutSpreadGivesItsBias) {
  auto layer = layer_of(3);
  torch::NoGradGuard no_grad;
  const auto output = layer->forward(torch::full({4, 3, 8, 8}, 0.1));
  EXPECT_LT(test::largest_difference(output, layer->bias.view({1, 3, 1, 1}).expand({4, 3, 8, 8})),
            1e-4);
}

TEST(BatchNormTest, NanStaysNan) {
  auto layer = layer_of(8);
  auto values = torch::ones({4, 8});
  values[2][5] = std::numeric_limits<float>::quiet_NaN();
  const auto output = layer->forward(values, {}, {.relu = true});
  EXPECT_TRUE(output.select(1, 5).isnan().all().item<bool>());
  EXPECT_FALSE(output.select(1, 4).isnan().any().item<bool>());
  EXPECT_TRUE(layer->running_var[5].isnan().item<bool>());
}

// In float64 by LibTorch's operations, and in float32 by the kernel.
TEST(BatchNormTest, GradientsMatchFiniteDifferences) {
  const auto weights = values_of("weights", {5, 3, 2, 2}).to(torch::kFloat64);
  const auto residual = values_of("residual", {5, 3, 2, 2});
  const auto loss = [&](const torch::Tensor& input) {
    auto layer = layer_of(3);
    layer->to(input.scalar_type());  // in float32: nothing
    const auto output = layer->forward(input, {3, 2}, {.relu = true, .residual = residual});
    return (output.to(torch::kFloat64) * weights).sum();
  };
  const auto input = values_of("values", {5, 3, 2, 2}).to(torch::kFloat64);
  test::expect_gradient_matches(loss, input);
  test::expect_gradient_matches(
      [&](const torch::Tensor& values) { return loss(values.to(torch::kFloat32)); }, input,
      /*step=*/2e-3, /*tolerance=*/2e-3);
}

TEST(BatchNormTest, TakesActivationsOfLessPrecisionAndKeepsTheirs) {
  auto layer = layer_of(16), exact = layer_of(16);
  const auto values = values_of("values", {6, 16, 4, 4}).to(torch::kBFloat16);
  const auto residual = values_of("residual", {6, 16, 4, 4});
  const auto output = layer->forward(values, {4, 2}, {.relu = true, .residual = residual});
  EXPECT_EQ(output.scalar_type(), torch::kBFloat16);
  const auto expected =
      exact->forward(values.to(torch::kFloat32), {4, 2}, {.relu = true, .residual = residual});
  EXPECT_LT(test::largest_difference(output, expected), 0.03);  // bfloat16 has 8 bits
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 2);
}

TEST(BatchNormTest, EvaluationUsesTheRunningStatisticsAndLeavesThem) {
  for (const bool residual : {false, true}) {
    const LayerCase test_case{{3, 2}, 10, {4, 4}, /*relu=*/true, residual};
    const auto outcome =
        outcome_of(test_case, [&](BatchNorm& layer, const auto& values, const auto& added) {
          layer->eval();
          return layer->forward(values, test_case.groups, {.relu = true, .residual = added});
        });
    const auto fresh = layer_of(10);
    const auto channel = [](const torch::Tensor& values) { return values.view({1, -1, 1, 1}); };
    auto expected = (test_case.tensor("values") - channel(fresh->running_mean)) /
                        (channel(fresh->running_var) + 1e-5).sqrt() * channel(fresh->weight) +
                    channel(fresh->bias);
    if (residual) expected = expected + test_case.tensor("residual");
    EXPECT_LT(test::largest_difference(outcome.output, expected.relu()), kLayerTolerance);
    EXPECT_TRUE(outcome.running_mean.equal(fresh->running_mean));
    EXPECT_TRUE(outcome.running_var.equal(fresh->running_var));
    EXPECT_EQ(outcome.num_batches.item<int64_t>(), 0);
  }
}

TEST(BatchNormTest, OneValuePerChannelHasNoStatistics) {
  auto layer = layer_of(4);
  EXPECT_THROW(layer->forward(torch::ones({1, 4})), c10::Error);
  EXPECT_THROW(layer->forward(torch::ones({1, 4, 1, 1})), c10::Error);
  EXPECT_THROW(layer->forward(torch::ones({3, 4}), {2, 1}, {}), c10::Error);
  EXPECT_THROW(layer->forward(torch::ones({3, 4, 2, 2}), {3, 0}, {}), c10::Error);
  EXPECT_NO_THROW(layer->forward(torch::ones({1, 4, 1, 2})));
  layer->eval();
  EXPECT_NO_THROW(layer->forward(torch::ones({1, 4})));
}

TEST(BatchNormTest, PaddingBehindTheGroupsComesOutAsZerosAndChangesNothing) {
  const auto values = values_of("values", {7, 8, 3, 3}),
             residual = values_of("residual", {7, 8, 3, 3});
  const auto run = [&](int64_t images) {
    const auto layer = layer_of(8);
    const auto input = values.narrow(0, 0, images).clone().set_requires_grad(true);
    const auto added = residual.narrow(0, 0, images).clone().set_requires_grad(true);
    const auto output = BatchNorm(layer)->forward(input, {3, 2}, {.relu = true, .residual = added});
    (output * values_of("factors", {7, 8, 3, 3}).narrow(0, 0, images)).sum().backward();
    return LayerOutcome{.output = output.detach(),
                        .values = input.grad(),
                        .residual = added.grad(),
                        .weight = layer->weight.grad(),
                        .bias = layer->bias.grad(),
                        .running_mean = layer->running_mean,
                        .running_var = layer->running_var,
                        .num_batches = layer->num_batches_tracked};
  };
  auto padded = run(7);
  for (auto* tensor : {&padded.output, &padded.values, &padded.residual}) {
    EXPECT_TRUE(torch::equal(tensor->narrow(0, 5, 2), torch::zeros({2, 8, 3, 3})));
    *tensor = tensor->narrow(0, 0, 5);
  }
  expect_same(padded, run(5), kLayerTolerance);
}

TEST(BatchNormTest, GroupsMustFitIntoTheBatch) {
  auto layer = layer_of(4);
  EXPECT_THROW(layer->forward(torch::ones({5, 4}), {4, 2}, {}), c10::Error);
  EXPECT_THROW(layer->forward(torch::ones({5, 3}), {}, {}), c10::Error);
  EXPECT_THROW(layer->forward(torch::ones({5, 4, 3}), {}, {}), c10::Error);
}

TEST(BatchNormTest, TheKernelTakesWhatTheNetworksGiveIt) {
  BatchNormInput input{
      .values =
          torch::ones({2, 3, 4, 4}, torch::kFloat32).contiguous(torch::MemoryFormat::ChannelsLast),
      .residual = {},
      .weight = torch::ones({3}),
      .bias = torch::ones({3}),
      .running_mean = torch::ones({3}),
      .running_var = torch::ones({3}),
      .num_batches_tracked = torch::tensor(0, torch::kInt64),
      .group_sizes = {2}};
  EXPECT_TRUE(cpu_batch_norm_kernels().can_run(input));
  auto other = input;
  other.values = input.values.contiguous();
  EXPECT_FALSE(cpu_batch_norm_kernels().can_run(other));
  other.values = input.values.to(torch::kFloat64);
  EXPECT_FALSE(cpu_batch_norm_kernels().can_run(other));
  other = input;
  other.residual = input.values.contiguous();
  EXPECT_FALSE(cpu_batch_norm_kernels().can_run(other));
}

}  // namespace
}  // namespace proca::kernels
