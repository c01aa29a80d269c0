#include "save_queue.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "proca/core/error.h"

namespace proca::engine {
namespace {

TEST(SaveQueueTest, WorkIsDoneInTheOrderItCame) {
  std::vector<int> done;
  SaveQueue queue;
  queue.add([&] {
    // Long enough for the next one to overtake it, if it could.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    done.push_back(1);
  });
  queue.add([&] { done.push_back(2); });
  queue.add([&] { done.push_back(3); });
  queue.wait();
  EXPECT_EQ(done, (std::vector<int>{1, 2, 3}));
}

TEST(SaveQueueTest, NothingIsDoneBehindAFailureAndWhoeverAsksIsTold) {
  std::atomic<int> done = 0;
  SaveQueue queue;
  queue.add([&] { ++done; });
  queue.add([] { throw Error("the disk is full"); });
  queue.add([&] { ++done; });
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
    SaveQueue queue;
    queue.add([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ++done;
    });
    queue.add([] { throw Error("the disk is full"); });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace proca::engine
