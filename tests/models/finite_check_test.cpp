#include "training/finite_check.h"

#include <limits>

#include <gtest/gtest.h>
#include <torch/types.h>

namespace proca::training {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FiniteCheckTest, NamesTheTensorThatHasNoNumber) {
  EXPECT_EQ(find_not_finite({{"a", torch::ones({3})}, {"b", torch::tensor({1.0f, NAN})}}), "b");
  EXPECT_EQ(find_not_finite({{"a", torch::tensor({-kInfinity})}, {"b", torch::ones({3})}}), "a");
}

TEST(FiniteCheckTest, IsContentWithNumbersWholeNumbersAndNothing) {
  EXPECT_EQ(find_not_finite({}), std::nullopt);
  EXPECT_EQ(find_not_finite({{"a", torch::tensor({3e38f, -3e38f, 0.0f})},
                             {"count", torch::tensor(int64_t{7})},
                             {"empty", torch::empty({0, 3})}}),
            std::nullopt);
}

}  // namespace
}  // namespace proca::training
