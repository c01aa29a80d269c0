// Many steps with one Adapter: neither memory nor the state grow with their number. 30 steps, or
// as many as PROCA_STREAM_STEPS says; tests/crash/stream_test.py does it with the program.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include "proca/core/file.h"
#include "proca/engine/adapter.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSettled = 10;  // By then all classes have been seen and every buffer is made.

int64_t num_steps() {
  const char* steps = std::getenv("PROCA_STREAM_STEPS");
  return steps == nullptr ? 30 : std::max<int64_t>(kSettled + 5, std::atoll(steps));
}

// What the process holds now, less what it could give back.
int64_t resident_bytes() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

int64_t bytes_below(const fs::path& folder) {
  int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

// After a step.
struct Measured {
  int64_t memory = 0;
  int64_t disk = 0;     // the whole state
  int64_t records = 0;  // steps/NN of this step
  double seconds = 0;
};

double median_seconds(std::vector<Measured>::const_iterator begin,
                      std::vector<Measured>::const_iterator end) {
  std::vector<double> seconds;
  for (; begin != end; ++begin) seconds.push_back(begin->seconds);
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

TEST(LongStreamTest, MemoryAndStateDoNotGrowWithTheNumberOfSteps) {
  const test::TemporaryFolder folder;
  test::train_bars(folder / "bars", folder / "state");
  AdaptOptions options;
  options.epochs = 2;
  options.batch_size = 8;
  options.method_defaults = {{"prototypes", {"3"}}, {"capture-first", {"0"}}};
  Adapter adapter(options, folder / "state");
  std::vector<Measured> after;
  for (int64_t step = 0; step < num_steps(); ++step) {
    const auto images = test::target_bars({step % 3, (step + 1) % 3}, 6, 100 + 6 * step);
    const auto outcome = adapter.adapt(images);
    const auto records = folder / "state" / fmt::format("steps/{:02}", outcome.step);
    after.push_back(
        {resident_bytes(), bytes_below(folder / "state"), bytes_below(records), outcome.seconds});
  }
  const auto& settled = after[kSettled];
  const auto& last = after.back();
  const auto steps = static_cast<int64_t>(after.size()) - 1 - kSettled;
  const auto disk_per_step = (last.disk - settled.disk) / steps;
  const auto half = after.begin() + static_cast<int64_t>(after.size()) / 2;
  std::cout << fmt::format(
      "{} steps: memory {:.1f} MB after step {}, {:.1f} MB after the last; state {} bytes, then {} "
      "more per step, {} of them records; {:.3f} s per step in the first half, {:.3f} s in the "
      "second\n",
      after.size(), static_cast<double>(settled.memory) / 1e6, kSettled + 1,
      static_cast<double>(last.memory) / 1e6, settled.disk, disk_per_step, last.records,
      median_seconds(after.begin() + kSettled, half), median_seconds(half, after.end()));

  // A network or the images of a step that were forgotten to be freed would be 0.7 MB or more
  // each time.
#ifndef PROCA_SANITIZED  // A sanitizer keeps freed memory for a while.
  EXPECT_LT(last.memory - settled.memory, std::max<int64_t>(6'000'000, steps * 50'000));
#endif
  // The later records have longer numbers in their names, that is all.
  EXPECT_LT(static_cast<double>(last.records), 1.1 * static_cast<double>(settled.records));
  // Records, events, and the lines of state.json: a few kilobytes, whatever came before.
  EXPECT_LT(disk_per_step, 16'000);
  const auto middle = (half->disk - settled.disk) / (half - after.begin() - kSettled);
  EXPECT_LT(static_cast<double>(disk_per_step), 1.1 * static_cast<double>(middle));
}

}  // namespace
}  // namespace proca::engine
