#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

namespace proca {

int64_t available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

void parallel_for(int64_t count, int64_t threads, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  // Indexes below the smallest that failed are still finished: only then is
  // the smallest failure known.
  std::atomic<int64_t> failed_index{count};
  std::exception_ptr failure;
  std::mutex mutex;

  const auto run = [&] {
    for (;;) {
      const int64_t index = next.fetch_add(1);
      if (index >= failed_index.load()) return;
      try {
        work(index);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (index < failed_index.load()) {
          failed_index = index;
          failure = std::current_exception();
        }
      }
    }
  };

  const int64_t helpers = std::min(threads, count) - 1;
  {
    std::vector<std::jthread> pool;
    try {
      for (int64_t i = 0; i < helpers; ++i) pool.emplace_back(run);
    } catch (const std::system_error&) {
      // No memory, or no more threads for this user: those there are do all of the work.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace proca
