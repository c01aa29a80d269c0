// The CUDA kernels of batch-norm against their definition in float64, by the largest error.

#include "kernels/batch_norm.h"

#include <numeric>

#include "gpu/gpu_test.h"
#include "kernels/batch_norm_kernels.h"

namespace proca::kernels {
namespace {

using test::largest_error;

// One of two ranks with the same images: every sum is twice this one's.
class Twin final : public compute::Ranks {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 2; }
  std::unique_ptr<Pending> begin_sum(const torch::Tensor& values) override {
    struct Done final : Pending {
      void wait() override {}
    };
    values.mul_(2);
    return std::make_unique<Done>();
  }
  void broadcast(const torch::Tensor&) override {}
};

struct GroupedCase {
  torch::ScalarType dtype = torch::kFloat32;
  int64_t channels = 8;
  int64_t size = 5;  // height and width
  std::vector<int64_t> groups = {};
  int64_t padding = 0;
  bool relu = false;
  bool residual = false;
  int64_t ranks = 1;

  std::string text() const {
    return c10::str(dtype, ", ", channels, " channels of ", size, " x ", size, ", groups ",
                    at::IntArrayRef(groups), " + ", padding, relu ? ", ReLU" : "",
                    residual ? ", residual" : "", ", ranks ", ranks);
  }
  int64_t used() const { return std::accumulate(groups.begin(), groups.end(), int64_t{0}); }
  torch::Tensor random(const torch::Device& device) const {
    return (torch::randn({used() + padding, channels, size, size}, device) * 2 + 1)
        .to(dtype)
        .contiguous(torch::MemoryFormat::ChannelsLast);
  }
};

struct Tensors {
  torch::Tensor output, values, residual, weight, bias, running_mean, running_var;
};

BatchNorm make_layer(int64_t channels, const torch::Device& device) {
  BatchNorm layer(channels);
  layer->to(device);
  const torch::NoGradGuard no_grad;
  layer->weight.copy_(torch::linspace(0.5, 1.5, channels));
  layer->bias.copy_(torch::linspace(-0.3, 0.3, channels));
  layer->running_mean.fill_(0.5);
  layer->running_var.fill_(2.0);
  return layer;
}

// The definition, with the kernel's own decision about what ReLU lets through: next to zero a
// rounding decides.
Tensors reference(const GroupedCase& test_case, const torch::Tensor& values,
                  const torch::Tensor& residual, const torch::Tensor& gradient,
                  const torch::Tensor& passes) {
  const auto options = torch::dtype(torch::kFloat64).device(values.device());
  const auto leaf = [&](const torch::Tensor& tensor) {
    return tensor.detach().to(torch::kFloat64).set_requires_grad(true);
  };
  const auto x = leaf(values),
             weight = leaf(torch::linspace(0.5, 1.5, test_case.channels, options)),
             bias = leaf(torch::linspace(-0.3, 0.3, test_case.channels, options));
  const auto added = residual.defined() ? leaf(residual) : residual;
  auto running_mean = torch::full({test_case.channels}, 0.5, options),
       running_var = torch::full({test_case.channels}, 2.0, options);
  std::vector<torch::Tensor> outputs;
  int64_t first = 0;
  for (const int64_t count : test_case.groups) {
    const auto group = x.narrow(0, first, count);
    const auto mean = group.mean({0, 2, 3}, /*keepdim=*/true);
    const auto variance = (group - mean).square().mean({0, 2, 3}, /*keepdim=*/true);
    auto output = (group - mean) / (variance + 1e-5).sqrt() * weight.view({1, -1, 1, 1}) +
                  bias.view({1, -1, 1, 1});
    if (added.defined()) output = output + added.narrow(0, first, count);
    if (test_case.relu) output = output * passes.narrow(0, first, count).to(torch::kFloat64);
    outputs.push_back(output);
    const auto pixels =
        static_cast<double>(test_case.ranks * count * test_case.size * test_case.size);
    running_mean = 0.9 * running_mean + 0.1 * mean.detach().flatten();
    running_var = 0.9 * running_var + 0.1 * variance.detach().flatten() * pixels / (pixels - 1);
    first += count;
  }
  outputs.push_back(torch::zeros_like(x.narrow(0, first, test_case.padding)));
  const auto output = torch::cat(outputs);
  output.backward(gradient.to(torch::kFloat64));
  return {output,        x.grad(),    added.defined() ? added.grad() : added,
          weight.grad(), bias.grad(), running_mean,
          running_var};
}

void check(const GroupedCase& test_case, const torch::Device& device) {
  SCOPED_TRACE(test_case.text());
  auto values = test_case.random(device).set_requires_grad(true);
  torch::Tensor residual;
  if (test_case.residual) residual = test_case.random(device).set_requires_grad(true);
  const auto gradient = torch::randn_like(values);
  auto layer = make_layer(test_case.channels, device);
  if (test_case.ranks == 2) layer->share(std::make_shared<Twin>());
  const auto output =
      layer->forward(values, test_case.groups, {.relu = test_case.relu, .residual = residual});
  output.backward(gradient);
  const auto expected = reference(test_case, values, residual, gradient, output.detach() > 0);
  // bfloat16 has 8 bits, so a result is off by 1/512 of itself. Sums are floats.
  const double rounding = test_case.dtype == torch::kBFloat16 ? 4e-3 : 2e-5, sums = 1e-4;
  EXPECT_EQ(output.scalar_type(), test_case.dtype);
  EXPECT_LT(largest_error(output, expected.output), rounding) << "output";
  EXPECT_LT(largest_error(values.grad(), expected.values), rounding) << "gradient of values";
  if (residual.defined()) {
    EXPECT_LT(largest_error(residual.grad(), expected.residual), 1e-7) << "gradient of residual";
  }
  EXPECT_LT(largest_error(layer->weight.grad(), expected.weight), sums) << "gradient of weight";
  EXPECT_LT(largest_error(layer->bias.grad(), expected.bias), sums) << "gradient of bias";
  EXPECT_LT(largest_error(layer->running_mean, expected.running_mean), 1e-5) << "running mean";
  EXPECT_LT(largest_error(layer->running_var, expected.running_var), 1e-5) << "running variance";
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(),
            static_cast<int64_t>(test_case.groups.size()));
}

class GpuBatchNormTest : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (!IsSkipped() && cuda_batch_norm_kernels() == nullptr) {
      GTEST_SKIP() << "built without a CUDA compiler";
    }
  }
};

TEST_F(GpuBatchNormTest, MatchesTheDefinitionForwardAndBackward) {
  const std::vector<GroupedCase> shapes = {{.channels = 64, .size = 56, .groups = {5, 3, 4}},
                                           {.channels = 256, .size = 14, .groups = {8}},
                                           {.channels = 2048, .size = 7, .groups = {3, 2}},
                                           {.channels = 8, .size = 5, .groups = {2, 7, 9}},
                                           {.channels = 48, .size = 9, .groups = {6, 6}}};
  for (auto test_case : shapes) {
    for (const auto dtype : {torch::kFloat32, torch::kBFloat16}) {
      for (const int64_t padding : {0, 3}) {
        for (const bool relu : {false, true}) {
          for (const bool residual : {false, true}) {
            for (const int64_t ranks : {1, 2}) {
              test_case.dtype = dtype;
              test_case.padding = padding;
              test_case.relu = relu;
              test_case.residual = residual;
              test_case.ranks = ranks;
              check(test_case, gpu_);
            }
          }
        }
      }
    }
  }
}

TEST_F(GpuBatchNormTest, KeepsItsDigitsWhereTheMeanIsLargeComparedWithTheSpread) {
  const auto values =
      (torch::randn({16, 64, 28, 28}, gpu_) + 1000).contiguous(torch::MemoryFormat::ChannelsLast);
  auto layer = make_layer(64, gpu_);
  {
    const torch::NoGradGuard no_grad;
    layer->running_mean.fill_(1000);
    layer->forward(values);
  }
  const auto exact = values.to(torch::kFloat64).var({0, 2, 3}, /*unbiased=*/true);
  EXPECT_LT(largest_error(layer->running_var, 0.9 * 2.0 + 0.1 * exact), 1e-5);
}

TEST_F(GpuBatchNormTest, TheSameInputGivesTheSameBits) {
  const GroupedCase test_case{.channels = 64, .size = 28, .groups = {8, 8}, .relu = true};
  const auto values = test_case.random(gpu_), gradient = torch::randn_like(values);
  const auto run = [&] {
    const auto input = values.clone().set_requires_grad(true);
    auto layer = make_layer(test_case.channels, gpu_);
    layer->forward(input, test_case.groups, {.relu = true}).backward(gradient);
    return std::vector<torch::Tensor>{input.grad(), layer->weight.grad(), layer->running_var};
  };
  const auto first = run(), second = run();
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(torch::equal(first[i], second[i])) << i;
}

}  // namespace
}  // namespace proca::kernels
