#include "data/loading/endless_batches.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace proca::data {
namespace {

TEST(EndlessBatchesTest, EveryPassIsAShuffleWithoutTheImagesThatFillNoBatch) {
  // Ten images in batches of four: two batches per pass.
  const auto stretch = endless_batches(10, 4, 1, "source", 0, 6);
  ASSERT_EQ(stretch.batches.size(), 6u);
  EXPECT_EQ(stretch.passes, (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
  for (size_t pass = 0; pass < 3; ++pass) {
    std::set<int64_t> seen;
    for (size_t i = 0; i < 2; ++i) {
      const auto& batch = stretch.batches[2 * pass + i];
      ASSERT_EQ(batch.size(), 4u);
      seen.insert(batch.begin(), batch.end());
    }
    EXPECT_EQ(seen.size(), 8u) << "an image came twice in pass " << pass;
    EXPECT_LT(*seen.rbegin(), 10);
  }
  EXPECT_NE(stretch.batches[0], stretch.batches[2]);
}

TEST(EndlessBatchesTest, AStretchIsPartOfTheSameStream) {
  const auto whole = endless_batches(10, 3, 7, "target", 0, 20);
  const auto part = endless_batches(10, 3, 7, "target", 5, 12);
  ASSERT_EQ(part.batches.size(), 7u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(part.batches[i], whole.batches[i + 5]);
    EXPECT_EQ(part.passes[i], whole.passes[i + 5]);
  }
  EXPECT_NE(endless_batches(10, 3, 8, "target", 0, 20).batches, whole.batches);
  EXPECT_NE(endless_batches(10, 3, 7, "source", 0, 20).batches, whole.batches);
}

TEST(EndlessBatchesTest, FewerImagesThanPlacesAreAllInEveryBatch) {
  const auto stretch = endless_batches(3, 8, 1, "target", 0, 2);
  for (auto batch : stretch.batches) {
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch, (std::vector<int64_t>{0, 1, 2}));
  }
  EXPECT_EQ(endless_batches(1, 8, 1, "target", 0, 1).batches.front(), (std::vector<int64_t>{0, 0}));
}

TEST(EndlessBatchesTest, ImpossibleRequestsAreRefused) {
  EXPECT_THROW(endless_batches(0, 4, 1, "source", 0, 1), std::invalid_argument);
  EXPECT_THROW(endless_batches(4, 0, 1, "source", 0, 1), std::invalid_argument);
  EXPECT_THROW(balanced_batches({}, 4, 1, "source", 0, 1), std::invalid_argument);
}

TEST(BalancedBatchesTest, EveryClassComesEquallyOftenHoweverManyImagesItHas) {
  // 90 images of class 0, nine of class 5, one of class 7.
  std::vector<int64_t> labels(90, 0);
  labels.insert(labels.end(), 9, 5);
  labels.push_back(7);
  std::map<int64_t, int64_t> count;
  for (const auto& batch : balanced_batches(labels, 10, 3, "source", 0, 600).batches) {
    ASSERT_EQ(batch.size(), 10u);
    for (const int64_t image : batch) ++count[labels.at(static_cast<size_t>(image))];
  }
  // 2000 each, with a standard deviation of 37.
  for (const int64_t label : {0, 5, 7}) EXPECT_NEAR(static_cast<double>(count[label]), 2000, 150);
}

TEST(BalancedBatchesTest, AStretchIsPartOfTheSameStream) {
  const std::vector<int64_t> labels = {0, 0, 1, 1, 1, 2};
  const auto whole = balanced_batches(labels, 4, 3, "source", 0, 9);
  const auto part = balanced_batches(labels, 4, 3, "source", 4, 6);
  EXPECT_EQ(part.batches[0], whole.batches[4]);
  EXPECT_EQ(part.batches[1], whole.batches[5]);
}

}  // namespace
}  // namespace proca::data
