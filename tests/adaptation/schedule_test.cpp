#include "adaptation/schedule.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

namespace proca::adaptation {
namespace {

using Epochs = std::vector<int64_t>;

Epochs captures(const CaptureSchedule& schedule, int64_t num_epochs) {
  Epochs epochs;
  for (int64_t epoch = 0; epoch < num_epochs; ++epoch) {
    if (schedule.captures_after(epoch, num_epochs)) epochs.push_back(epoch);
  }
  return epochs;
}

TEST(CaptureScheduleTest, FollowsThePublishedSchedules) {
  EXPECT_EQ(captures({}, 10), (Epochs{3, 7}));                          // Office-31
  EXPECT_EQ(captures({.first = 3, .every = 15}, 30), (Epochs{3, 15}));  // Office-Home
  EXPECT_EQ(captures({.first = 3, .every = 10}, 15), (Epochs{3, 10}));  // ImageNet-Caltech
  EXPECT_EQ(captures({}, 30), (Epochs{3, 7, 14, 21, 28}));
}

TEST(CaptureScheduleTest, AStepTooShortCapturesAfterItsLastEpoch) {
  EXPECT_EQ(captures({}, 1), (Epochs{0}));
  EXPECT_EQ(captures({}, 3), (Epochs{2}));
  EXPECT_EQ(captures({}, 4), (Epochs{3}));
  EXPECT_EQ(captures({}, 5), (Epochs{3}));
  EXPECT_EQ(captures({.first = 5, .every = 2}, 4), (Epochs{2}));
  EXPECT_EQ(captures({.first = 0, .every = 7}, 3), (Epochs{0}));
  EXPECT_EQ(captures({.first = 9, .every = 0}, 3), (Epochs{2}));
}

TEST(IsDueTest, IsTrueAtPositiveMultiples) {
  Epochs due;
  for (int64_t epoch = 0; epoch < 13; ++epoch) {
    if (is_due(epoch, 4)) due.push_back(epoch);
  }
  EXPECT_EQ(due, (Epochs{4, 8, 12}));
  EXPECT_FALSE(is_due(4, 0));
}

TEST(ReplayBatchesTest, AFullPassComesFirst) {
  const auto batches = replay_batches(70, 32, 3, 1, 0, 0);
  ASSERT_EQ(batches.size(), 3u);
  std::set<int64_t> seen;
  for (const auto& batch : batches) seen.insert(batch.begin(), batch.end());
  EXPECT_EQ(seen.size(), 70u);
  EXPECT_EQ(*seen.rbegin(), 69);
  EXPECT_EQ(batches[0].size(), 32u);
  EXPECT_EQ(batches[1].size(), 32u);
  EXPECT_EQ(batches[2].size(), 6u);
}

TEST(ReplayBatchesTest, ThenTheFirstBatchOfEverNewShuffles) {
  const auto batches = replay_batches(70, 32, 9, 1, 0, 0);
  std::set<std::vector<int64_t>> different;
  for (size_t i = 3; i < batches.size(); ++i) {
    EXPECT_EQ(batches[i].size(), 32u);
    EXPECT_EQ(std::set<int64_t>(batches[i].begin(), batches[i].end()).size(), 32u);
    different.insert(batches[i]);
  }
  different.insert(batches[0]);
  EXPECT_EQ(different.size(), 7u);
}

TEST(ReplayBatchesTest, AFewPrototypesMakeEveryBatch) {
  for (auto batch : replay_batches(3, 32, 5, 1, 0, 0)) {
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch, (std::vector<int64_t>{0, 1, 2}));
  }
}

TEST(ReplayBatchesTest, DependOnSeedStepAndEpochAlone) {
  const auto batches = replay_batches(50, 8, 10, 1, 2, 3);
  EXPECT_EQ(replay_batches(50, 8, 10, 1, 2, 3), batches);
  EXPECT_NE(replay_batches(50, 8, 10, 2, 2, 3), batches);
  EXPECT_NE(replay_batches(50, 8, 10, 1, 3, 3), batches);
  EXPECT_NE(replay_batches(50, 8, 10, 1, 2, 4), batches);
  // A longer epoch begins like a shorter one.
  auto longer = replay_batches(50, 8, 20, 1, 2, 3);
  longer.resize(10);
  EXPECT_EQ(longer, batches);
}

TEST(ReplayBatchesTest, AnEmptyMemoryGivesEmptyBatches) {
  EXPECT_EQ(replay_batches(0, 32, 2, 1, 0, 0), (std::vector<std::vector<int64_t>>(2)));
  EXPECT_TRUE(replay_batches(10, 32, 0, 1, 0, 0).empty());
}

TEST(ReplayBatchesTest, RefusesImpossibleCounts) {
  EXPECT_THROW(replay_batches(-1, 32, 2, 1, 0, 0), std::invalid_argument);
  EXPECT_THROW(replay_batches(10, 0, 2, 1, 0, 0), std::invalid_argument);
  EXPECT_THROW(replay_batches(10, 32, -2, 1, 0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace proca::adaptation
