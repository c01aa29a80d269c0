#pragma once

#include <string>

#include "proca/config/options.h"
#include "proca/core/log.h"

namespace proca::app {

/// Options every command has.
struct CommonOptions {
  std::string config;
  bool print_config = false;
  bool quiet = false;
  LogLevel log_level = LogLevel::kInfo;

  void bind(OptionSet& options);
};

}  // namespace proca::app
