#include "state/save_queue.h"

#include <chrono>

#include "proca/core/log.h"

namespace proca::state {

SaveQueue::~SaveQueue() {
  try {
    if (!is_reported_) wait();
  } catch (const std::exception& error) {
    // If another exception is in flight, that one is reported; on a full disk it is the same.
    if (std::uncaught_exceptions() > 0) {
      log_warning(error.what());
    } else {
      log_error(error.what());
    }
  }
}

void SaveQueue::add(std::function<void()> work) {
  const bool has_ended =
      !last_.valid() || last_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (has_ended) wait();
  last_ =
      std::async(std::launch::async, [before = std::move(last_), work = std::move(work)]() mutable {
        if (before.valid()) before.get();
        work();
      });
}

void SaveQueue::wait() {
  try {
    if (last_.valid()) last_.get();
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (!failure_) return;
  is_reported_ = true;
  std::rethrow_exception(failure_);
}

}  // namespace proca::state
