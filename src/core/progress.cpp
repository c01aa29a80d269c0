#include "core/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "core/terminal.h"
#include "proca/core/log.h"

namespace proca {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kLogInterval = std::chrono::seconds(10);
constexpr int64_t kBarWidth = 24;
constexpr int64_t kShortestBar = 8;

}  // namespace

std::string format_duration(double seconds) {
  const int64_t whole = std::llround(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

Progress::Progress(std::string title, int64_t total, std::string unit,
                   std::function<TimePoint()> now)
    : title_(work_prefix() + title),
      total_(total),
      unit_(std::move(unit)),
      now_(std::move(now)),
      start_(now_()),
      printed_(start_) {}

Progress::~Progress() {
  if (visible_ && is_on_terminal()) std::fputs("\r\033[K", stderr);
}

void Progress::update(int64_t done, std::string_view note) {
  if (log_level() > LogLevel::kInfo) return;
  const std::lock_guard lock(mutex_);
  const auto now = now_();
  using Duration = TimePoint::duration;
  if (now - printed_ < (is_on_terminal() ? Duration(kTerminalInterval) : Duration(kLogInterval))) {
    return;
  }
  print(done, note, now);
}

void Progress::print(int64_t done, std::string_view note, TimePoint now) {
  printed_ = now;
  visible_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  auto facts = fmt::format("{}/{} {}", done, total_, unit_);
  if (done > 0) {  // Before that the time left is unknown.
    const double seconds_each = std::max(elapsed, 1e-9) / static_cast<double>(done);
    const double left = static_cast<double>(total_ - done) * seconds_each;
    facts += seconds_each > 1 ? fmt::format(", {:.1f} s each", seconds_each)
                              : fmt::format(", {:.0f}/s", 1 / seconds_each);
    facts += fmt::format(", {} left", format_duration(left));
    if (further_ > 0) {
      facts += fmt::format(", {} in all",
                           format_duration(left + static_cast<double>(further_) * seconds_each));
    }
  }
  if (!note.empty()) facts += fmt::format(", {}", note);
  if (!is_on_terminal()) {
    fmt::print(stderr, "{}: {}\n", printable(title_), printable(facts));
    return;
  }
  // A line that wraps could not be cleared: the bar gives way first, then what is last.
  const int64_t columns = terminal_columns() - 1;
  const auto others = static_cast<int64_t>(title_.size() + facts.size()) + 4;
  const int64_t width = std::clamp(columns - others, kShortestBar, kBarWidth);
  const int64_t filled = total_ > 0 ? std::min(width, width * done / total_) : 0;
  const auto line =
      fmt::format("{} [{:=<{}}{:{}}] {}", title_, "", filled, "", width - filled, facts);
  fmt::print(stderr, "\r\033[K{}", fit_to_columns(printable(line), columns));
  std::fflush(stderr);
}

}  // namespace proca
