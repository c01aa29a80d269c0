#include "core/parallel.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "support/message_of.h"

namespace proca {
namespace {

using test::message_of;

TEST(ParallelForTest, CallsEveryIndexOnce) {
  for (const int64_t threads : {-1, 0, 1, 2, 7, 64}) {
    for (const int64_t count : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      parallel_for(count, threads, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& number : calls) EXPECT_EQ(number, 1) << count << " on " << threads;
    }
  }
}

TEST(ParallelForTest, OfANegativeCountDoesNothing) {
  parallel_for(-3, 2, [](int64_t) { FAIL(); });
}

TEST(ParallelForTest, UsesSeveralThreadsAtOnce) {
  // Neither call can return before the other has begun.
  std::atomic<int> begun{0};
  parallel_for(2, 2, [&](int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(ParallelForTest, ReportsTheSmallestIndexThatFailedWhicheverWasFirst) {
  std::atomic<bool> later_failed{false};
  const auto work = [&](int64_t i) {
    if (i == 7) {
      later_failed = true;
      throw std::runtime_error("seven");
    }
    if (i == 3) {
      while (!later_failed) std::this_thread::yield();
      throw std::runtime_error("three");
    }
  };
  EXPECT_EQ(message_of<std::runtime_error>([&] { parallel_for(8, 4, work); }), "three");
}

TEST(ParallelForTest, DoesNotStartTheRestAfterAFailure) {
  int64_t calls = 0;
  const auto work = [&](int64_t i) {
    ++calls;
    if (i == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(parallel_for(1000, 1, work), std::runtime_error);
  EXPECT_EQ(calls, 4);
}

TEST(AvailableCoresTest, CountsTheCoresThisProcessMayUse) {
  EXPECT_GE(available_cores(), 1);
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cores(), 1);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(available_cores(), CPU_COUNT(&before));
}

}  // namespace
}  // namespace proca
