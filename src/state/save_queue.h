#pragma once

#include <exception>
#include <functional>
#include <future>

namespace proca::state {

/// Work on files that need not be waited for: done on another thread, one piece after the
/// other in the order it came. After a piece that failed nothing is done any more, and
/// whoever asks is told.
class SaveQueue {
 public:
  SaveQueue() = default;
  /// Waits. A failure that nobody has asked about is logged, as a warning if another error is
  /// being reported.
  ~SaveQueue();
  SaveQueue(const SaveQueue&) = delete;
  SaveQueue& operator=(const SaveQueue&) = delete;

  /// Throws what an earlier piece threw, as soon as that is known.
  void add(std::function<void()> work);
  /// Until everything is done. Throws what a piece threw.
  void wait();

 private:
  std::future<void> last_;
  std::exception_ptr failure_;
  bool is_reported_ = false;
};

}  // namespace proca::state
