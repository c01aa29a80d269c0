#include "save_queue.h"

#include <exception>

#include "proca/core/log.h"

namespace proca::engine {

SaveQueue::~SaveQueue() {
  try {
    wait();
  } catch (const std::exception& error) {
    log_error(error.what());
  }
}

void SaveQueue::add(std::function<void()> work) {
  last_ =
      std::async(std::launch::async, [before = std::move(last_), work = std::move(work)]() mutable {
        if (before.valid()) before.get();
        work();
      });
}

void SaveQueue::wait() {
  if (last_.valid()) last_.get();
}

}  // namespace proca::engine
