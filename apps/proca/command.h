#pragma once

#include <functional>
#include <string>
#include <vector>

#include "proca/config/options.h"

namespace proca::app {

/// One word of the command line (`pretrain`) or two (`data verify`).
struct Command {
  std::string name;
  std::string summary;  ///< one line for `proca --help`
  /// Declares the command's options and returns what runs it once they are
  /// parsed. The function owns the structs that the options are bound to.
  std::function<std::function<void()>(OptionSet&)> configure;
};

/// Parses the command line (and the file of `--config`), runs the command and
/// returns the exit code: 0 done, 1 failed, 2 bad usage or bad input, 130 stopped
/// by Ctrl-C.
int run_command_line(int argc, char** argv, const std::vector<Command>& commands);

}  // namespace proca::app
