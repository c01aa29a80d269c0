#include "proca/compute/precision.h"

#include <ATen/Context.h>

#include "gpu/gpu_test.h"
#include "proca/compute/device.h"

namespace proca::compute {
namespace {

using test::largest_error;

class GpuPrecisionTest : public test::GpuTest {
 protected:
  torch::Tensor convolve() const {
    return torch::conv2d(torch::ones({2, 8, 8, 8}, gpu_), torch::ones({8, 8, 3, 3}, gpu_));
  }
};

TEST_F(GpuPrecisionTest, AutocastHoldsWithinItsScope) {
  EXPECT_EQ(convolve().scalar_type(), torch::kFloat32);
  {
    const AutocastScope autocast(Precision::kBf16, gpu_);
    EXPECT_EQ(convolve().scalar_type(), torch::kBFloat16);
    {
      const AutocastScope none(Precision::kTf32, gpu_);
      EXPECT_EQ(convolve().scalar_type(), torch::kFloat32);
    }
    EXPECT_EQ(convolve().scalar_type(), torch::kBFloat16);
  }
  EXPECT_EQ(convolve().scalar_type(), torch::kFloat32);
}

TEST_F(GpuPrecisionTest, AutocastIsForGpus) {
  const AutocastScope autocast(Precision::kBf16, torch::kCPU);
  EXPECT_EQ(convolve().scalar_type(), torch::kFloat32);
}

TEST_F(GpuPrecisionTest, Tf32RoundsProductsAndFp32DoesNot) {
  // Drawn on the CPU: after a capture that failed, LibTorch's generator of the GPU throws.
  const auto left = torch::randn({256, 1024}).to(gpu_), right = torch::randn({1024, 256}).to(gpu_);
  const auto exact = torch::mm(left.to(torch::kFloat64), right.to(torch::kFloat64));
  set_precision(Precision::kFp32);
  EXPECT_LT(largest_error(torch::mm(left, right), exact), 1e-6);
  set_precision(Precision::kTf32);
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  EXPECT_TRUE(at::globalContext().allowTF32CuDNN());
  EXPECT_LT(largest_error(torch::mm(left, right), exact), 2e-3);
}

TEST_F(GpuPrecisionTest, TheWarmUpLeavesAUsableDevice) {
  ComputeOptions options;
  options.device = "cuda";
  options.precision = Precision::kBf16;
  begin_warm_up(options);
  begin_warm_up(options);                                    // The second time does nothing.
  EXPECT_EQ(torch::ones({4}, gpu_).sum().item<float>(), 4);  // Beside it.
  finish_warm_up();
  finish_warm_up();
  EXPECT_EQ(convolve().scalar_type(), torch::kFloat32) << "autocast stays off";
  EXPECT_EQ(choose_device(options), gpu_);
}

}  // namespace
}  // namespace proca::compute
