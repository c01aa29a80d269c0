#pragma once

#include <cstdint>
#include <functional>

namespace proca::kernels {

/// Calls work(0), ..., work(count - 1) on LibTorch's threads, each of which gets a contiguous
/// range. Exceptions reach the caller.
void in_parallel(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace proca::kernels
