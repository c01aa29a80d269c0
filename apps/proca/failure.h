#pragma once

#include <exception>

namespace proca::app {

/// Writes one sentence about `failure` to standard error and returns the exit code: 130 after
/// Ctrl-C, 2 where the user's input is to blame, else 1. The only place that turns exceptions, ours
/// or a library's, into what a user sees.
int report_failure(const std::exception_ptr& failure);

}  // namespace proca::app
