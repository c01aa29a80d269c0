#pragma once

#include <functional>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

namespace proca::test {

/// Checks d(fn)/d(input) against central differences, element by element.
/// `fn` must return a scalar; `input` must be float64.
inline void expect_gradient_matches(const std::function<torch::Tensor(const torch::Tensor&)>& fn,
                                    torch::Tensor input, double step = 1e-6,
                                    double tolerance = 1e-6) {
  ASSERT_EQ(input.scalar_type(), torch::kFloat64);
  input = input.clone().set_requires_grad(true);
  const auto analytic = torch::autograd::grad({fn(input)}, {input})[0].flatten();

  torch::NoGradGuard no_grad;
  for (int64_t i = 0; i < input.numel(); ++i) {
    auto plus = input.clone(), minus = input.clone();
    plus.view(-1)[i] += step;
    minus.view(-1)[i] -= step;
    const auto numeric = (fn(plus) - fn(minus)).item<double>() / (2 * step);
    EXPECT_NEAR(analytic[i].item<double>(), numeric, tolerance) << "at element " << i;
  }
}

}  // namespace proca::test
