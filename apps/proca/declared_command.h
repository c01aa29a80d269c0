#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command.h"
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

/// A command with all its options: what parsing, help, shell completion and the manual page
/// are made from.
struct DeclaredCommand {
  std::string name;
  std::string summary;
  std::shared_ptr<OptionSet> options = std::make_shared<OptionSet>();
  std::shared_ptr<OptionSet> common_options = std::make_shared<OptionSet>();

  /// The command's own options, then those that every command has.
  std::vector<const Option*> all_options() const;

  // Own what the options are bound to.
  std::function<void()> run;
  std::shared_ptr<CommonOptions> common = std::make_shared<CommonOptions>();
};

std::vector<DeclaredCommand> declare(const std::vector<Command>& commands);

/// A first word (`adapt`), and those that may follow it (`data`: `verify`, ...).
struct CommandWord {
  std::string name;
  std::string summary;
  const DeclaredCommand* command = nullptr;  ///< null for a mere group
  std::vector<const DeclaredCommand*> members;
};

/// The first words of the command line, in the order of the commands.
std::vector<CommandWord> first_words(const std::vector<DeclaredCommand>& commands);

/// The last word of a command's name: `verify` of `data verify`.
std::string last_word(const DeclaredCommand& command);

/// The help of an option with default and range.
std::string description(const Option& option);

}  // namespace proca::app
