#pragma once

#include <cstdint>
#include <functional>

namespace proca {

/// The number of cores this process may use; at least 1.
int64_t available_cores();

/// Calls `work(i)` for every i in [0, count) from `threads` threads, in no
/// particular order, and returns when all calls have. When calls throw, the
/// rest are not started and the exception of the smallest index that threw is
/// rethrown, so that the same error is reported every time.
void parallel_for(int64_t count, int64_t threads, const std::function<void(int64_t)>& work);

}  // namespace proca
