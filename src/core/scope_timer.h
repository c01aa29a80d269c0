#pragma once

#include <string>

#include "core/stopwatch.h"

namespace proca {

/// Logs, with `--log-level debug`, how long its scope took.
///
/// Example:
/// ```
/// const ScopeTimer timer("decoding");   // logs "decoding: 0.412 s" at the end
/// ```
class ScopeTimer {
 public:
  explicit ScopeTimer(std::string what) : what_(std::move(what)) {}
  ~ScopeTimer();
  ScopeTimer(const ScopeTimer&) = delete;
  ScopeTimer& operator=(const ScopeTimer&) = delete;

 private:
  std::string what_;
  Stopwatch watch_;
};

}  // namespace proca
