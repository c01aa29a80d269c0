#include "core/progress.h"

#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proca/core/log.h"

namespace proca {
namespace {

// Standard error on a terminal of its own while this lives.
class Terminal {
 public:
  /// `columns` = 0: it does not say how wide it is.
  explicit Terminal(uint16_t columns = 0, const char* kind = "xterm")
      : before_(dup(STDERR_FILENO)) {
    setenv("TERM", kind, /*replace=*/1);
    int inside = -1;
    winsize size{};
    size.ws_col = columns;
    opened_ = openpty(&outside_, &inside, nullptr, nullptr, &size) == 0;
    if (!opened_) return;
    dup2(inside, STDERR_FILENO);
    close(inside);
  }
  ~Terminal() { release(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool opened() const { return opened_; }

  /// Gives standard error back and returns what was written.
  std::string release() {
    if (before_ < 0) return "";
    dup2(before_, STDERR_FILENO);  // closes the last writing end, so that reading ends
    close(std::exchange(before_, -1));
    std::string text;
    char c = 0;
    while (read(outside_, &c, 1) == 1) text += c;
    close(outside_);
    return text;
  }

 private:
  int before_;
  int outside_ = -1;
  bool opened_ = false;
};

using std::chrono::milliseconds;

// A clock that stands still until it is moved.
class TestClock {
 public:
  void advance(milliseconds time) { now_ += time; }
  auto reader() const {
    return [this] { return now_; };
  }

 private:
  Progress::TimePoint now_;
};

constexpr milliseconds kLongerThanTheRefresh{120};

TEST(ProgressTest, NamesTheWorkAndTheTimeLeftForAllOfIt) {
  TestClock clock;
  testing::internal::CaptureStderr();
  {
    const WorkName task("A -> W");
    const WorkName seed("seed 1");
    Progress progress("epoch 1/3", 4, "images", clock.reader());
    progress.set_further(8);
    clock.advance(std::chrono::seconds(20));
    progress.update(2);
    log_step("half of it");
  }
  log_step("done");
  // Ten seconds each: 20 s for the other two, 80 s for the eight after them.
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "A -> W, seed 1: epoch 1/3: 2/4 images, 10.0 s each, 0:20 left, 1:40 in all\n"
            "A -> W, seed 1: half of it\n"
            "done\n");
}

TEST(ProgressTest, PrintsNothingForWorkThatTakesNoTime) {
  TestClock clock;
  testing::internal::CaptureStderr();
  {
    Progress progress("decoding", 3, "images", clock.reader());
    for (int64_t done = 1; done <= 3; ++done) progress.update(done);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressTest, DrawsABarOnATerminalAndClearsItAtTheEnd) {
  TestClock clock;
  Terminal terminal;
  ASSERT_TRUE(terminal.opened());
  {
    Progress progress("decoding", 4, "images", clock.reader());
    clock.advance(kLongerThanTheRefresh);
    progress.update(1, "loss 0.5");
  }
  const auto text = terminal.release();
  const std::string bar = "\r\033[Kdecoding [======                  ] 1/4 images, ";
  EXPECT_EQ(text.substr(0, bar.size()), bar);
  const std::string end = " left, loss 0.5\r\033[K";
  ASSERT_GT(text.size(), end.size());
  EXPECT_EQ(text.substr(text.size() - end.size()), end);
}

TEST(ProgressTest, AnEmptyTotalAndMoreThanTheTotalKeepTheBarWhole) {
  TestClock clock;
  Terminal terminal;
  ASSERT_TRUE(terminal.opened());
  {
    Progress none("none", 0, "images", clock.reader());
    Progress more("more", 2, "images", clock.reader());
    clock.advance(kLongerThanTheRefresh);
    none.update(0);
    more.update(3);
  }
  const auto text = terminal.release();
  EXPECT_NE(text.find("none [                        ] 0/0 images"), std::string::npos) << text;
  EXPECT_NE(text.find("more [========================] 3/2 images"), std::string::npos) << text;
  EXPECT_NE(text.find("0:00 left"), std::string::npos) << text;
}

TEST(ProgressTest, SlowWorkShowsItsSecondsAndNoneDoneNoTimeLeft) {
  TestClock clock;
  Terminal terminal;
  ASSERT_TRUE(terminal.opened());
  {
    Progress progress("runs", 4, "runs", clock.reader());
    clock.advance(kLongerThanTheRefresh);
    progress.update(0);
    clock.advance(milliseconds(1000));
    progress.update(1);
  }
  const auto text = terminal.release();
  EXPECT_NE(text.find("0/4 runs\r"), std::string::npos) << text;
  EXPECT_NE(text.find("1/4 runs, 1.1 s each, 0:03 left"), std::string::npos) << text;
}

TEST(ProgressTest, NeverTakesMoreThanTheWidthOfTheTerminal) {
  TestClock clock;
  const std::string note = "alignment 0.98, distillation 0.76, source 0.27, target 0.22";
  const struct {
    uint16_t columns;
    std::string begin, end;  // of the line
  } cases[] = {
      {200, "step 1, epoch 2/10 [============            ] 5/10 iterations, ", ", target 0.22"},
      // The bar gives way first.
      {132, "step 1, epoch 2/10 [====", ", target 0.22"},
      // Whole numbers only.
      {90, "step 1, epoch 2/10 [====    ] 5/10 iterations, ", " left, alignment 0.98"},
      {0, "step 1, epoch 2/10 [====    ] 5/10 iterations, ", ""},
      {30, "step 1", "step 1"},
  };
  for (const auto& [columns, begin, end] : cases) {
    Terminal terminal(columns);
    ASSERT_TRUE(terminal.opened());
    {
      Progress progress("step 1, epoch 2/10", 10, "iterations", clock.reader());
      clock.advance(kLongerThanTheRefresh);
      progress.update(5, note);
    }
    const auto text = terminal.release();
    const std::string clear = "\r\033[K";
    ASSERT_GT(text.size(), 2 * clear.size());
    const auto line = text.substr(clear.size(), text.size() - 2 * clear.size());
    EXPECT_LT(line.size(), columns == 0 ? 80U : columns);
    EXPECT_TRUE(line.starts_with(begin)) << columns << ": " << line;
    EXPECT_TRUE(line.ends_with(end)) << columns << ": " << line;
  }
}

TEST(ProgressTest, ATerminalThatCannotClearALineIsTreatedAsALog) {
  TestClock clock;
  Terminal terminal(80, "dumb");
  ASSERT_TRUE(terminal.opened());
  {
    Progress progress("decoding", 4, "images", clock.reader());
    clock.advance(kLongerThanTheRefresh);
    progress.update(1);
  }
  EXPECT_EQ(terminal.release(), "");  // ten seconds have not passed
}

TEST(ProgressTest, IsSilentAboveTheInfoLevel) {
  TestClock clock;
  Terminal terminal;
  ASSERT_TRUE(terminal.opened());
  set_log_level(LogLevel::kWarning);
  {
    Progress progress("decoding", 4, "images", clock.reader());
    clock.advance(kLongerThanTheRefresh);
    progress.update(1);
  }
  set_log_level(LogLevel::kInfo);
  EXPECT_EQ(terminal.release(), "");
}

TEST(FormatDurationTest, ShowsMinutesAndHours) {
  const struct {
    double seconds;
    std::string_view text;
  } cases[] = {
      {0, "0:00"},       {0.49, "0:00"},      {0.5, "0:01"},         {59.4, "0:59"},
      {59.5, "1:00"},    {75, "1:15"},        {3599.4, "59:59"},     {3599.5, "1:00:00"},
      {3700, "1:01:40"}, {86400, "24:00:00"}, {360000, "100:00:00"}, {-5, "0:00"},
  };
  for (const auto& [seconds, text] : cases) EXPECT_EQ(format_duration(seconds), text) << seconds;
}

}  // namespace
}  // namespace proca
