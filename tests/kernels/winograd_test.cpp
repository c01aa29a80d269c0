#include "kernels/winograd.h"

#include <functional>
#include <limits>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/functional/conv.h>
#include <torch/types.h>

#include "kernels/cpu/winograd_loops.h"
#include "proca/compute/precision.h"
#include "support/formula.h"

namespace proca::kernels {
namespace {

// Of the largest value, in single precision.
constexpr double kWinogradTolerance = 5e-6;

torch::Tensor numbers(const std::string& name, torch::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (2 * test::uniform_formula(name, count) - 1)
      .view(shape)
      .to(torch::kFloat32)
      .contiguous(torch::MemoryFormat::ChannelsLast);
}

torch::Tensor direct(const torch::Tensor& input, const torch::Tensor& weight) {
  return torch::conv2d(input.to(torch::kFloat64), weight.to(torch::kFloat64), /*bias=*/{},
                       /*stride=*/1, /*padding=*/1);
}

void expect_near(const torch::Tensor& actual, const torch::Tensor& expected) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_LE(test::largest_difference(actual, expected),
            kWinogradTolerance * expected.abs().max().item<double>());
}

bool applies(const torch::Tensor& input, const torch::Tensor& weight) {
  return has_winograd(input, weight, /*stride=*/1, /*padding=*/1);
}

struct Shape {
  int64_t images, in_channels, out_channels, height, width;
};

// Whole tiles; sides that are no multiple of four; more tiles than are done together, also
// for a part of a weight's gradient; numbers of channels that leave half of a block, and one for
// which weights go back the direct way.
class WinogradTest : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    const auto& c = GetParam();
    input = numbers("input", {c.images, c.in_channels, c.height, c.width});
    weight = numbers("weight", {c.out_channels, c.in_channels, 3, 3});
    if (winograd_loops_avx2() == nullptr) GTEST_SKIP() << "no AVX2 here";
    ASSERT_TRUE(applies(input, weight));
  }

  torch::Tensor input, weight;
};

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradTest,
                         testing::Values(Shape{2, 16, 16, 8, 8}, Shape{3, 32, 16, 7, 7},
                                         Shape{1, 16, 48, 10, 13}, Shape{9, 16, 16, 32, 32},
                                         Shape{2, 64, 80, 4, 12}, Shape{8, 64, 128, 16, 16},
                                         Shape{32, 16, 16, 32, 32}, Shape{2, 128, 144, 8, 4}));

TEST_P(WinogradTest, IsTheConvolution) {
  expect_near(winograd_convolution(input, weight), direct(input, weight));
}

TEST_P(WinogradTest, HasTheConvolutionsGradients) {
  input.set_requires_grad(true);
  weight.set_requires_grad(true);
  const auto output = winograd_convolution(input, weight);
  const auto gradient = numbers("gradient", output.sizes());
  const auto actual = torch::autograd::grad({output}, {input, weight}, {gradient});
  const auto expected = torch::autograd::grad({direct(input, weight)}, {input, weight},
                                              {gradient.to(torch::kFloat64)});
  expect_near(actual[0], expected[0]);
  expect_near(actual[1], expected[1]);
  EXPECT_EQ(actual[1].strides(), weight.strides());
}

TEST_P(WinogradTest, DoesWhatFollowsTheConvolution) {
  const auto& c = GetParam();
  const auto bias = (2 * test::uniform_formula("bias", c.out_channels) - 1).to(torch::kFloat32);
  const auto residual = numbers("residual", {c.images, c.out_channels, c.height, c.width});
  const FusedConvolution fused{.weight = weight,
                               .bias = bias,
                               .padding = 1,
                               .relu = true,
                               .transformed = winograd_weight(weight)};
  const auto sum = direct(input, weight) + bias.view({1, -1, 1, 1});
  expect_near(winograd_convolution(fused, input, residual), (sum + residual).relu());
  expect_near(run_fused(fused, input), sum.relu());
  const FusedConvolution plain{
      .weight = weight, .padding = 1, .transformed = winograd_weight(weight)};
  expect_near(run_fused(plain, input, residual), direct(input, weight) + residual);
}

// Rows of pixels, or one number for all: other layouts than ours are brought into it.
TEST_P(WinogradTest, TakesAnyLayout) {
  const auto& c = GetParam();
  auto rows = input.contiguous().set_requires_grad(true);
  weight.set_requires_grad(true);
  const auto output = winograd_convolution(rows, weight);
  const auto expected = direct(rows, weight);
  expect_near(output, expected);
  for (const auto& gradient : {numbers("gradient", output.sizes()).contiguous(),
                               torch::full({1, 1, 1, 1}, 0.5F).expand(output.sizes())}) {
    const auto actual =
        torch::autograd::grad({output}, {rows, weight}, {gradient}, /*retain_graph=*/true);
    const auto right = torch::autograd::grad({expected}, {rows, weight},
                                             {gradient.to(torch::kFloat64)}, /*retain_graph=*/true);
    expect_near(actual[0], right[0]);
    expect_near(actual[1], right[1]);
  }
  const FusedConvolution plain{
      .weight = weight.detach(), .padding = 1, .transformed = winograd_weight(weight.detach())};
  const auto residual = numbers("residual", {c.images, c.out_channels, c.height, c.width});
  expect_near(run_fused(plain, rows.detach(), residual.contiguous()), expected + residual);
}

// Bit by bit.
TEST_P(WinogradTest, DoesNotDependOnOtherImagesOrThreads) {
  input.set_requires_grad(true);
  weight.set_requires_grad(true);
  const auto outcome = [&] {
    const auto output = winograd_convolution(input, weight);
    auto all = torch::autograd::grad({output}, {input, weight}, {numbers("g", output.sizes())});
    all.push_back(output.detach());
    return all;
  };
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto alone = outcome();
  at::set_num_threads(3);
  const auto together = outcome();
  at::set_num_threads(threads);
  EXPECT_TRUE(alone[0].equal(together[0]));
  EXPECT_TRUE(alone[2].equal(together[2]));
  const auto& c = GetParam();
  if (c.in_channels * c.out_channels <= kWinogradGradientPairs) {
    EXPECT_TRUE(alone[1].equal(together[1]));
  }
  const auto last = input.detach().narrow(0, c.images - 1, 1);
  EXPECT_TRUE(
      winograd_convolution(last, weight.detach()).equal(alone[2].narrow(0, c.images - 1, 1)));
}

// Both sets of instructions round alike; which of them is used does not matter.
TEST_P(WinogradTest, IsTheSameWithAnyInstructions) {
  const auto *avx2 = winograd_loops_avx2(), *avx512 = winograd_loops_avx512();
  if (avx2 == nullptr || avx512 == nullptr) GTEST_SKIP() << "only one of them here";
  const auto& c = GetParam();
  const WinogradShape shape{c.images, c.height, c.width, c.in_channels, c.out_channels};
  const auto gradient = numbers("gradient", {c.images, c.out_channels, c.height, c.width});
  struct Outcome {
    torch::Tensor transformed, turned, output, sums, gradient;
  };
  const auto outcome = [&](const WinogradLoops& loops) {
    Outcome all{torch::empty({shape.weights()}), torch::empty({shape.weights()}),
                torch::empty_like(gradient), torch::zeros({2, shape.weights()}),
                torch::empty_like(weight)};
    const TransformWeights weights{.weights = weight.data_ptr<float>(),
                                   .in_channels = c.in_channels,
                                   .out_channels = c.out_channels,
                                   .last = c.out_channels,
                                   .transformed = all.transformed.data_ptr<float>()};
    loops.transform_weights(weights);
    auto turned = weights;
    turned.way = WinogradWay::kBackward;
    turned.transformed = all.turned.data_ptr<float>();
    loops.transform_weights(turned);
    loops.convolve({.shape = shape,
                    .input = input.data_ptr<float>(),
                    .transformed = all.transformed.data_ptr<float>(),
                    .last = shape.tiles(),
                    .output = all.output.data_ptr<float>()});
    for (int64_t part = 0; part < 2; ++part) {
      loops.sum_weight_gradient({.shape = shape,
                                 .input = input.data_ptr<float>(),
                                 .output_gradient = gradient.data_ptr<float>(),
                                 .first = part * shape.tiles() / 2,
                                 .last = (part + 1) * shape.tiles() / 2,
                                 .sums = all.sums[part].data_ptr<float>()});
    }
    loops.finish_weight_gradient({.shape = shape,
                                  .sums = all.sums.data_ptr<float>(),
                                  .parts = 2,
                                  .last = c.in_channels,
                                  .gradient = all.gradient.data_ptr<float>()});
    return all;
  };
  const auto a = outcome(*avx2), b = outcome(*avx512);
  EXPECT_TRUE(a.transformed.equal(b.transformed));
  EXPECT_TRUE(a.turned.equal(b.turned));
  EXPECT_TRUE(a.output.equal(b.output));
  EXPECT_TRUE(a.sums.equal(b.sums));
  EXPECT_TRUE(a.gradient.equal(b.gradient));
  expect_near(a.output, direct(input, weight));
}

// Ones everywhere count the pixels that a kernel covers.
TEST(Winograd, CountsPixelsUnderTheKernel) {
  const auto input = torch::ones({1, 16, 7, 6}), ones = torch::ones({16, 16, 3, 3});
  const auto weight = ones.contiguous(torch::MemoryFormat::ChannelsLast);
  if (winograd_loops_avx2() == nullptr) GTEST_SKIP() << "no AVX2 here";
  ASSERT_TRUE(applies(input, weight));
  const auto output = winograd_convolution(input, weight);
  for (int64_t row = 0; row < 7; ++row) {
    for (int64_t column = 0; column < 6; ++column) {
      const int64_t rows = row == 0 || row == 6 ? 2 : 3;
      const int64_t columns = column == 0 || column == 5 ? 2 : 3;
      EXPECT_NEAR(output[0][7][row][column].item<double>(),
                  static_cast<double>(16 * rows * columns), 1e-3)
          << row << ", " << column;
    }
  }
}

// Differences of the whole, which is linear in either: any step will do.
TEST(Winograd, GradientsMatchFiniteDifferences) {
  const auto input = numbers("input", {1, 16, 4, 7}), weight = numbers("weight", {16, 16, 3, 3});
  if (winograd_loops_avx2() == nullptr) GTEST_SKIP() << "no AVX2 here";
  ASSERT_TRUE(applies(input, weight));
  const auto factors = numbers("factors", {1, 16, 4, 7}).to(torch::kFloat64);
  const auto value = [&](const torch::Tensor& x, const torch::Tensor& w) {
    return (winograd_convolution(x, w).to(torch::kFloat64) * factors).sum();
  };
  const auto x = input.clone().set_requires_grad(true), w = weight.clone().set_requires_grad(true);
  const auto gradients = torch::autograd::grad({value(x, w)}, {x, w});
  const auto check = [&](const torch::Tensor& at, const torch::Tensor& gradient,
                         const std::function<torch::Tensor(const torch::Tensor&)>& of) {
    for (int64_t i = 0; i < at.numel(); i += 7) {
      auto bump = torch::zeros(at.numel());
      bump[i] = 1;
      const auto step = bump.view(at.sizes()).contiguous(torch::MemoryFormat::ChannelsLast);
      const double numeric = (of(at + step) - of(at - step)).item<double>() / 2;
      EXPECT_NEAR(gradient.reshape({-1})[i].item<double>(), numeric, 1e-3) << "at element " << i;
    }
  };
  check(input, gradients[0], [&](const torch::Tensor& moved) { return value(moved, weight); });
  check(weight, gradients[1], [&](const torch::Tensor& moved) { return value(input, moved); });
}

TEST(Winograd, ComputesTheGradientsThatAreAskedFor) {
  auto input = numbers("input", {1, 16, 8, 8}), weight = numbers("weight", {16, 16, 3, 3});
  if (winograd_loops_avx2() == nullptr) GTEST_SKIP() << "no AVX2 here";
  ASSERT_TRUE(applies(input, weight));
  weight.set_requires_grad(true);
  winograd_convolution(input, weight).sum().backward();
  EXPECT_TRUE(weight.grad().defined());
  EXPECT_FALSE(input.grad().defined());
  const auto frozen = weight.detach();
  input.set_requires_grad(true);
  winograd_convolution(input, frozen).sum().backward();
  EXPECT_TRUE(input.grad().defined());
  EXPECT_FALSE(winograd_convolution(input.detach(), frozen).requires_grad());
  EXPECT_THROW(torch::autograd::grad({winograd_convolution(input, frozen).sum()}, {input}, {},
                                     /*retain_graph=*/true, /*create_graph=*/true),
               c10::Error);
}

// Diverged training must be noticed.
TEST(Winograd, KeepsNan) {
  auto input = numbers("input", {1, 16, 8, 8});
  const auto weight = numbers("weight", {16, 16, 3, 3});
  if (winograd_loops_avx2() == nullptr) GTEST_SKIP() << "no AVX2 here";
  input[0][3][5][5] = std::numeric_limits<float>::quiet_NaN();
  const FusedConvolution fused{
      .weight = weight, .padding = 1, .relu = true, .transformed = winograd_weight(weight)};
  const auto output = run_fused(fused, input);
  EXPECT_TRUE(output[0][0][5][5].isnan().item<bool>());
  EXPECT_FALSE(output[0][0][0][0].isnan().item<bool>()) << "another tile";
}

TEST(Winograd, CanBeSwitchedOff) {
  const auto input = numbers("input", {1, 16, 8, 8}), weight = numbers("weight", {16, 16, 3, 3});
  if (winograd_loops_avx2() == nullptr) GTEST_SKIP() << "no AVX2 here";
  compute::set_winograd(compute::Winograd::kOff);
  EXPECT_FALSE(applies(input, weight));
  const FusedConvolution fused{
      .weight = weight, .padding = 1, .transformed = winograd_weight(weight)};
  EXPECT_TRUE(torch::equal(run_fused(fused, input), torch::conv2d(input, weight, {}, 1, 1)));
  compute::set_winograd(compute::Winograd::kOn);
  EXPECT_TRUE(applies(input, weight));
}

TEST(Winograd, LeavesOtherConvolutionsAlone) {
  const auto input = numbers("input", {1, 16, 8, 8}), weight = numbers("weight", {16, 16, 3, 3});
  EXPECT_FALSE(has_winograd(input, weight, /*stride=*/2, /*padding=*/1));
  EXPECT_FALSE(has_winograd(input, weight, /*stride=*/1, /*padding=*/0));
  EXPECT_FALSE(applies(input, numbers("w", {16, 16, 1, 1})));
  EXPECT_FALSE(applies(input, numbers("w", {24, 16, 3, 3})));
  EXPECT_FALSE(applies(numbers("x", {1, 3, 8, 8}), numbers("w", {16, 3, 3, 3})));
  EXPECT_FALSE(applies(numbers("x", {1, 32, 8, 8}), weight)) << "channels do not agree";
  EXPECT_FALSE(applies(input.to(torch::kFloat64), weight.to(torch::kFloat64)));
  EXPECT_FALSE(applies(input.narrow(0, 0, 0), weight)) << "no images";
  EXPECT_FALSE(applies(numbers("x", {1, 16, 2, 2}), weight)) << "tiles larger than the image";
  EXPECT_FALSE(applies(numbers("x", {1, 512, 8, 8}), numbers("w", {512, 512, 3, 3})));
  EXPECT_FALSE(applies(input, weight.contiguous())) << "rows of pixels instead of channels";
  EXPECT_FALSE(winograd_weight(numbers("w", {24, 16, 3, 3})).defined());
}

}  // namespace
}  // namespace proca::kernels
