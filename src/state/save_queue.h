#pragma once

#include <exception>
#include <functional>
#include <future>

namespace proca::state {

/// Runs work on another thread, one task after the other in the order of `add`. After a task
/// that failed no further one is run, and the next call throws its error.
class SaveQueue {
 public:
  SaveQueue() = default;
  /// Waits. A failure that no call has thrown is logged, as a warning if another error is
  /// being reported.
  ~SaveQueue();
  SaveQueue(const SaveQueue&) = delete;
  SaveQueue& operator=(const SaveQueue&) = delete;

  /// Throws what an earlier task threw, if that is known already.
  void add(std::function<void()> work);
  /// Waits until all tasks are done. Throws what a task threw.
  void wait();

 private:
  std::future<void> last_;
  std::exception_ptr failure_;
  bool is_reported_ = false;
};

}  // namespace proca::state
