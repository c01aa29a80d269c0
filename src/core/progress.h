#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace proca {

/// Shows how far long work is, on standard error: a bar with the time left on
/// a terminal, a plain line now and then (at most every ten seconds) in a log.
/// Silent when the log level is above `kInfo`.
///
/// `update` may be called from any thread.
///
/// Example:
/// ```
/// Progress progress("decoding", images, "images");
/// for (...) progress.update(++done);
/// ```
class Progress {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  /// `now` is the clock to go by.
  Progress(std::string title, int64_t total, std::string unit,
           std::function<TimePoint()> now = std::chrono::steady_clock::now);
  /// Ends the line. Nothing is printed for work that took no visible time.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// As many units of the same work come after this one (further epochs): the time left is then
  /// shown for all of it, too.
  void set_further(int64_t units) { further_ = units; }

  /// `done` of the total is done; `note` is shown at the end of the line.
  void update(int64_t done, std::string_view note = {});

 private:
  void print(int64_t done, std::string_view note, TimePoint now);

  std::string title_;
  int64_t total_;
  int64_t further_ = 0;
  std::string unit_;
  std::function<TimePoint()> now_;
  TimePoint start_, printed_;
  std::mutex mutex_;
  bool visible_ = false;
};

/// Rounded to whole seconds: `75` -> `1:15`, `3700` -> `1:01:40`. Negative
/// durations count as none.
std::string format_duration(double seconds);

}  // namespace proca
