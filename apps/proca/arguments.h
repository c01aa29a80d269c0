#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "declared_command.h"

namespace proca::app {

/// The values that each option was given on the command line.
using GivenValues = std::map<const Option*, std::vector<std::string>>;

/// Reads the words behind a command:
///
/// | words                          | give                                                   |
/// |--------------------------------|--------------------------------------------------------|
/// | `--name VALUE`, `--name=VALUE` | one value; twice is an error                           |
/// | `--name A B`, `--name A,B`     | several, if it is a list; lists given twice add up.    |
/// |                                | A command with positional values takes only numbers so |
/// | `--name`                       | `true`, if it is a switch                              |
/// | other words, and all after `--`| the positional values                                  |
///
/// Throws `InvalidOption` for an unknown flag, with the nearest known one, for a value that is
/// missing and for a word that no option takes.
GivenValues parse_arguments(const DeclaredCommand& command, std::span<const std::string> words);

/// Whether a word can only be a flag: it begins with a dash, and is no negative number.
bool is_flag(const std::string& word);

/// "; did you mean X?", or nothing if no word is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace proca::app
