// Convolution with bias, residual and ReLU: one kernel of cuDNN where it has one.

#include "gpu/gpu_test.h"
#include "kernels/fused_convolution.h"

namespace proca::kernels {
namespace {

using test::largest_error;

class GpuConvolutionTest : public test::GpuTest {};

TEST_F(GpuConvolutionTest, MatchesSeparateOperationsInDoublePrecision) {
  for (const auto dtype : {torch::kFloat32, torch::kBFloat16}) {
    for (const int64_t kernel : {1, 3}) {
      for (const int64_t stride : {1, 2}) {
        for (const bool has_residual : {false, true}) {
          SCOPED_TRACE(c10::str(dtype, ", kernel ", kernel, ", stride ", stride, ", residual ",
                                has_residual));
          const auto dense = [&](const torch::Tensor& tensor) {
            return tensor.to(dtype).contiguous(torch::MemoryFormat::ChannelsLast);
          };
          const auto input = dense(torch::randn({6, 32, 28, 28}, gpu_));
          const FusedConvolution convolution{
              .weight = dense(torch::randn({64, 32, kernel, kernel}, gpu_) / 10),
              .bias = torch::randn({64}, gpu_).to(dtype),
              .stride = stride,
              .padding = kernel / 2,
              .relu = true};
          auto expected =
              torch::conv2d(input.to(torch::kFloat64), convolution.weight.to(torch::kFloat64),
                            convolution.bias.to(torch::kFloat64), stride, kernel / 2);
          torch::Tensor residual;
          if (has_residual) {
            residual = dense(torch::randn(expected.sizes(), gpu_));
            expected = expected + residual.to(torch::kFloat64);
          }
          // Separate operations round to bfloat16 three times.
          EXPECT_LT(largest_error(run_fused(convolution, input, residual), expected.relu()),
                    dtype == torch::kBFloat16 ? 2e-2 : 1e-5);
        }
      }
    }
  }
}

}  // namespace
}  // namespace proca::kernels
