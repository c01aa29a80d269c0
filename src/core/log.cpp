#include "proca/core/log.h"

#include <cstdio>
#include <memory>
#include <mutex>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "core/terminal.h"

namespace proca {
namespace {

LogLevel current_level = LogLevel::kInfo;
std::string process_prefix;

std::mutex work_mutex;
std::string work_name;

spdlog::logger& logger() {
  static const auto instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    sink->set_color_mode(may_use_colour() ? spdlog::color_mode::always : spdlog::color_mode::never);
    // White and yellow cannot be read on a light terminal.
    sink->set_color(spdlog::level::trace, "");
    sink->set_color(spdlog::level::debug, "");
    sink->set_color(spdlog::level::warn, "\033[35m");  // magenta
    auto made = std::make_shared<spdlog::logger>("proca", std::move(sink));
    // The messages of a tool, not of a server: a prefix only where something is wrong.
    made->set_pattern("%^%v%$");
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

void write(LogLevel level, spdlog::level::level_enum colour, std::string_view prefix,
           std::string_view message) {
  if (level < current_level) return;
  if (is_on_terminal()) std::fputs("\r\033[K", stderr);
  logger().log(colour, "{}{}{}", process_prefix, prefix, printable(message));
}

}  // namespace

void set_log_level(LogLevel level) { current_level = level; }
LogLevel log_level() { return current_level; }
void set_log_prefix(std::string prefix) { process_prefix = std::move(prefix); }

WorkName::WorkName(const std::string& name) {
  const std::lock_guard lock(work_mutex);
  outer_ = work_name;
  work_name += (outer_.empty() ? "" : ", ") + name;
}

WorkName::~WorkName() {
  const std::lock_guard lock(work_mutex);
  work_name = outer_;
}

std::string work_prefix() {
  const std::lock_guard lock(work_mutex);
  return work_name.empty() ? "" : work_name + ": ";
}

void log_step(std::string_view message) { log_info(work_prefix() + std::string(message)); }

void log_debug(std::string_view message) {
  write(LogLevel::kDebug, spdlog::level::debug, "", message);
}
void log_info(std::string_view message) {
  // Plain text in the terminal's own colour.
  write(LogLevel::kInfo, spdlog::level::trace, "", message);
}
void log_warning(std::string_view message) {
  write(LogLevel::kWarning, spdlog::level::warn, "warning: ", message);
}
void log_error(std::string_view message) {
  write(LogLevel::kError, spdlog::level::err, "error: ", message);
}

}  // namespace proca
