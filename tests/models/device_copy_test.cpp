#include "models/weights/device_copy.h"

#include <gtest/gtest.h>

namespace proca::models {
namespace {

TEST(DeviceCopyTest, OnACpuNothingIsCopiedOrPinned) {
  const auto values = torch::tensor({1, 2, 3});
  EXPECT_TRUE(copy_to(values, torch::kCPU).is_same(values));
  const auto memory = staging({2, 3}, torch::kUInt8, torch::kCPU);
  EXPECT_EQ(memory.sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(memory.scalar_type(), torch::kUInt8);
}

TEST(DeviceCopyTest, AVectorBecomesATensorOfItsOwn) {
  std::vector<int64_t> values = {4, 5};
  const auto copy = copy_to(values, torch::kCPU);
  values[0] = 9;
  EXPECT_TRUE(torch::equal(copy, torch::tensor({4, 5})));
  EXPECT_EQ(copy_to(std::vector<int64_t>{}, torch::kCPU).numel(), 0);
}

}  // namespace
}  // namespace proca::models
