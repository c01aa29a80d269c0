#pragma once

#include <functional>
#include <future>

namespace proca::engine {

/// Work on files that need not be waited for: done on another thread, one piece after the
/// other in the order it came. After a piece that failed none of the later ones is done.
class SaveQueue {
 public:
  SaveQueue() = default;
  /// Waits. A failure that nobody has asked about is logged.
  ~SaveQueue();
  SaveQueue(const SaveQueue&) = delete;
  SaveQueue& operator=(const SaveQueue&) = delete;

  void add(std::function<void()> work);
  /// Until everything is done. Throws what a piece threw.
  void wait();

 private:
  std::future<void> last_;
};

}  // namespace proca::engine
