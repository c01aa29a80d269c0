#include "state/save_queue.h"

#include <atomic>
#include <future>
#include <vector>

#include <gtest/gtest.h>

#include "proca/core/error.h"

namespace proca::state {
namespace {

TEST(SaveQueueTest, WorkIsDoneInTheOrderItCame) {
  std::vector<int> done;
  std::promise<void> all_added;
  SaveQueue queue;
  queue.add([&] {
    all_added.get_future().wait();
    done.push_back(1);
  });
  queue.add([&] { done.push_back(2); });
  queue.add([&] { done.push_back(3); });
  all_added.set_value();
  queue.wait();
  EXPECT_EQ(done, (std::vector<int>{1, 2, 3}));
}

TEST(SaveQueueTest, NothingIsDoneBehindAFailureAndWhoeverAsksIsTold) {
  std::atomic<int> done = 0;
  std::promise<void> all_added;
  SaveQueue queue;
  queue.add([&] { ++done; });
  queue.add([&] {
    all_added.get_future().wait();  // Else `add` might know of the failure already.
    throw Error("the disk is full");
  });
  queue.add([&] { ++done; });
  all_added.set_value();
  try {
    queue.wait();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
  EXPECT_EQ(done, 1);
  EXPECT_THROW(queue.add([&] { ++done; }), Error);
  EXPECT_THROW(queue.wait(), Error);
  EXPECT_EQ(done, 1);
}

TEST(SaveQueueTest, GoingAwayWaitsAndSurvivesAFailure) {
  std::atomic<int> done = 0;
  {
    std::promise<void> all_added;
    SaveQueue queue;
    queue.add([&] {
      all_added.get_future().wait();
      ++done;
    });
    queue.add([] { throw Error("the disk is full"); });
    all_added.set_value();
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace proca::state
