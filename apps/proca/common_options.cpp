#include "common_options.h"

namespace proca::app {

void CommonOptions::bind(OptionSet& options) {
  options.bind("config", config, "TOML file with the same options; a flag wins", "FILE");
  options.bind("print-config", print_config, "print the resolved options as TOML and stop");
  options.bind("quiet", quiet, "only warnings and errors on standard error");
  options.bind_choice<LogLevel>("log-level", log_level, "what to log",
                                {{"debug", LogLevel::kDebug},
                                 {"info", LogLevel::kInfo},
                                 {"warning", LogLevel::kWarning},
                                 {"error", LogLevel::kError}});
}

}  // namespace proca::app
