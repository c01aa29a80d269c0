#include "core/scope_timer.h"

#include <fmt/format.h>

#include "proca/core/log.h"

namespace proca {

ScopeTimer::~ScopeTimer() {
  if (log_level() == LogLevel::kDebug)
    log_debug(fmt::format("{}: {:.3f} s", what_, watch_.seconds()));
}

}  // namespace proca
