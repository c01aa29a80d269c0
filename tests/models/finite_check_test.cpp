#include "models/weights/finite_check.h"

#include <limits>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "support/message_of.h"

namespace proca::models {
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

TEST(CheckWeightsTest, RefusesWhatNoNetworkCanHave) {
  const struct {
    NamedTensors weights;
    std::string message;
  } cases[] = {
      {{{"conv1.weight", torch::tensor({1.0f, NAN})}},
       "a.pth: \"conv1.weight\" has an element that is no finite number; these weights cannot be "
       "used"},
      {{{"bn1.running_mean", torch::tensor({kInfinity})}},
       "a.pth: \"bn1.running_mean\" has an element that is no finite number; these weights cannot "
       "be used"},
      {{{"bn1.running_var", torch::tensor({1.0f, -0.5f})}},
       "a.pth: \"bn1.running_var\" has the element -0.5, but no variance is below 0; these weights "
       "cannot be used"},
  };
  for (const auto& [weights, message] : cases) {
    EXPECT_EQ(test::message_of([&, w = weights] { check_weights(w, "a.pth"); }), message);
  }
}

TEST(CheckWeightsTest, TakesNegativeMeansAndVariancesOfZero) {
  EXPECT_NO_THROW(check_weights({{"bn1.running_mean", torch::tensor({-1.0f})},
                                 {"bn1.running_var", torch::tensor({0.0f})},
                                 {"bn2.running_var", torch::empty({0})},
                                 {"bn1.num_batches_tracked", torch::tensor(int64_t{-1})},
                                 {"half", torch::full({2}, 6e4, torch::kFloat16)}},
                                "a.pth"));
}

}  // namespace
}  // namespace proca::models
