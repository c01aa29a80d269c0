#pragma once

#include <string>
#include <vector>

#include "declared_command.h"

namespace proca::app {

/// What `proca --help` prints.
std::string program_help(const std::vector<CommandWord>& words);

/// What `proca WORD --help` prints, for a command and for a group.
std::string word_help(const CommandWord& word);

/// What `proca data verify --help` prints.
std::string command_help(const DeclaredCommand& command);

}  // namespace proca::app
