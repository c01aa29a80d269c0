#pragma once

#include <string>
#include <string_view>

namespace proca {

/// What reaches the log, on standard error.
enum class LogLevel {
  kDebug,
  kInfo,     ///< the default
  kWarning,  ///< also hides progress bars
  kError,
};

void set_log_level(LogLevel level);
LogLevel log_level();
/// In front of every line, for one of several processes that share a terminal.
void set_log_prefix(std::string prefix);

/// Names the work under way, such as "A -> W, seed 0", in front of every progress line and of
/// `log_step` until the object's end. Within another one, both are named.
class WorkName {
 public:
  explicit WorkName(const std::string& name);
  ~WorkName();
  WorkName(const WorkName&) = delete;
  WorkName& operator=(const WorkName&) = delete;

 private:
  std::string outer_;
};
/// "A -> W, seed 0: ", or nothing.
std::string work_prefix();
/// `log_info` of how far the work is, with its name in front.
void log_step(std::string_view message);

/// One line each. Colour only on a terminal; a progress bar on the current
/// line is cleared first and redrawn by its next update.
void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

}  // namespace proca
