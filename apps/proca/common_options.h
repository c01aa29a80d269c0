#pragma once

#include <string>

#include "proca/core/log.h"
#include "proca/core/options.h"

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
