#include "proca/core/random.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace proca {
namespace {

TEST(RandomStreamTest, IsAFunctionOfItsKeyAlone) {
  RandomStream a(7, "augment", 3, 17);
  RandomStream b(7, "augment", 3, 17);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a(), b());
}

TEST(RandomStreamTest, EveryPartOfTheKeyMatters) {
  const uint64_t reference = RandomStream(7, "augment", 3, 17, 1)();
  EXPECT_NE(reference, RandomStream(8, "augment", 3, 17, 1)());
  EXPECT_NE(reference, RandomStream(7, "shuffle", 3, 17, 1)());
  EXPECT_NE(reference, RandomStream(7, "augment", 17, 3, 1)());
  EXPECT_NE(reference, RandomStream(7, "augment", 3, 17, 2)());
}

// The values are part of the contract: a resumed run or another machine must
// draw what the first one drew.
TEST(RandomStreamTest, DrawsTheSameNumbersInEveryVersion) {
  RandomStream random(0, "test");
  EXPECT_EQ(random(), 14698175061246466435u);
}

TEST(RandomStreamTest, UniformIntIsUnbiasedOverASmallRange) {
  RandomStream random(1, "test");
  std::vector<int64_t> counts(6);
  for (int i = 0; i < 60000; ++i) ++counts[static_cast<size_t>(random.uniform_int(6))];
  for (const int64_t count : counts) EXPECT_NEAR(count, 10000, 400);  // > 4 standard deviations
}

TEST(RandomStreamTest, UniformIntRefusesAnEmptyRange) {
  RandomStream random(1, "test");
  EXPECT_THROW(random.uniform_int(0), std::invalid_argument);
}

TEST(RandomStreamTest, NormalHasZeroMeanAndUnitVariance) {
  RandomStream random(1, "test");
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.02);
  EXPECT_NEAR(squares / kCount, 1.0, 0.03);
}

TEST(RandomPermutationTest, ContainsEveryNumberOnce) {
  RandomStream random(1, "test");
  auto order = random_permutation(100, random);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(RandomPermutationTest, OfNothingIsEmpty) {
  RandomStream random(1, "test");
  EXPECT_TRUE(random_permutation(0, random).empty());
}

}  // namespace
}  // namespace proca
