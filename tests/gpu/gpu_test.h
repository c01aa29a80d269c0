#pragma once

#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "compute/cuda_graph.h"
#include "proca/compute/precision.h"

namespace proca::test {

/// Tests of what runs on a GPU; skipped where there is none. Products are those of floats.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA GPU";
    torch::manual_seed(0);
    compute::set_precision(compute::Precision::kFp32);
    compute::leave_default_stream(gpu_);
  }

  const torch::Device gpu_{torch::kCUDA, 0};
};

/// The largest absolute difference, as a part of the largest expected number.
inline double largest_error(const torch::Tensor& actual, const torch::Tensor& expected) {
  EXPECT_EQ(actual.sizes(), expected.sizes());
  const auto reference = expected.detach().to(torch::kCPU, torch::kFloat64);
  const auto difference = actual.detach().to(torch::kCPU, torch::kFloat64) - reference;
  const double scale = reference.abs().max().item<double>();
  return difference.abs().max().item<double>() / (scale > 0 ? scale : 1);
}

}  // namespace proca::test
