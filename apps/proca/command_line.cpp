#include <algorithm>
#include <iostream>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arguments.h"
#include "command.h"
#include "commands/commands.h"
#include "config/toml.h"
#include "declared_command.h"
#include "failure.h"
#include "help.h"
#include "printable_output.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "runtime_settings.h"
#include "version.h"

namespace proca::app {
namespace {

using Words = std::span<const std::string>;

const Option& find_key(const DeclaredCommand& command, const TomlEntry& entry,
                       const std::string& where) {
  const auto is_meant = [&](const Option& option) {
    return option.name == entry.key && option.section == entry.section;
  };
  for (const auto* option : command.all_options()) {
    if (is_meant(*option) && option->name != "config" && option->name != "print-config") {
      return *option;
    }
  }
  std::vector<std::string> known;
  for (const auto& option : command.options->options()) {
    if (option.section == entry.section) known.push_back(fmt::format("\"{}\"", option.name));
  }
  throw InvalidOption(fmt::format("{}: unknown key \"{}{}{}\"{}", where, entry.section,
                                  entry.section.empty() ? "" : ".", entry.key,
                                  did_you_mean(fmt::format("\"{}\"", entry.key), known)));
}

// A flag wins over the file.
void apply_config_file(const DeclaredCommand& command, const GivenValues& given) {
  const auto& path = command.common->config;
  for (const auto& entry : parse_toml(read_text_file(path), path)) {
    const auto where = fmt::format("{}:{}", path, entry.line);
    const auto& option = find_key(command, entry, where);
    if (given.contains(&option)) continue;
    try {
      option.choose(entry.values);
    } catch (const InvalidOption& error) {
      throw InvalidOption(fmt::format("{}: {}", where, error.what()));
    }
  }
}

void check_required(const DeclaredCommand& command) {
  for (const auto* option : command.all_options()) {
    const auto value = option->toml();
    if (!option->required || (value != "\"\"" && value != "[]")) continue;
    const bool positional = option->shape == Option::Shape::kPositional;
    throw InvalidOption(fmt::format("proca {0}: {1}{2} is missing (see proca {0} --help)",
                                    command.name, positional ? "" : "--", option->name));
  }
}

void execute(const DeclaredCommand& command, Words words) {
  const auto given = parse_arguments(command, words);
  // In the order of their declaration.
  for (const auto* option : command.all_options()) {
    const auto values = given.find(option);
    if (values == given.end()) continue;
    option->choose(values->second);
    if (option->name == "config" && command.common->config.empty()) {
      throw InvalidOption("--config: names no file");
    }
  }
  if (!command.common->config.empty()) apply_config_file(command, given);
  set_log_level(command.common->quiet ? LogLevel::kWarning : command.common->log_level);
  if (command.common->print_config) {
    std::cout << command.options->completed_toml();
    return;
  }
  check_required(command);
  command.run();
}

[[noreturn]] void refuse_command(const std::string& word, const std::vector<std::string>& known) {
  const auto meant = did_you_mean(word, known);
  throw InvalidOption(
      fmt::format("unknown command \"{}\"{}", word, meant.empty() ? "; see proca --help" : meant));
}

bool asks_for_help(Words words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--help") != end ||
         std::find(words.begin(), end, "-h") != end;
}

// `adapt --method dann --help` shows the options of that method.
void choose_method(const DeclaredCommand& command, Words words) {
  const auto* method = command.options->find("method");
  if (method == nullptr) return;
  constexpr std::string_view kFlag = "--method";
  for (size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word == kFlag && i + 1 < words.size() && !is_flag(words[i + 1])) {
      method->choose({words[i + 1]});
    } else if (word.starts_with(std::string(kFlag) + "=")) {
      method->choose({word.substr(kFlag.size() + 1)});
    }
  }
}

// A word may be a command (`adapt`), a group of commands (`data verify`), or both (`bench`).
void execute_word(const CommandWord& word, Words words) {
  std::vector<std::string> names;
  for (const auto* member : word.members) {
    names.push_back(last_word(*member));
    if (words.empty() || words.front() != names.back()) continue;
    if (!asks_for_help(words)) return execute(*member, words.subspan(1));
    choose_method(*member, words.subspan(1));
    std::cout << command_help(*member);
    return;
  }
  if (asks_for_help(words)) {
    if (word.command != nullptr) choose_method(*word.command, words);
    std::cout << word_help(word);
    return;
  }
  if (!names.empty() && !words.empty() && !is_flag(words.front())) {
    refuse_command(words.front(), names);
  }
  if (word.command == nullptr) {
    throw InvalidOption(
        fmt::format("proca {}: a command is missing: {}", word.name, fmt::join(names, ", ")));
  }
  const auto late = std::find_first_of(words.begin(), words.end(), names.begin(), names.end());
  if (late != words.end()) {
    throw InvalidOption(fmt::format("{}: must come after the whole command, proca {} {}",
                                    words.front(), word.name, *late));
  }
  execute(*word.command, words);
}

void execute_first_word(Words words, const std::vector<CommandWord>& known) {
  std::vector<std::string> names = {"help", "version"};
  for (const auto& word : known) {
    if (word.name == words.front()) return execute_word(word, words.subspan(1));
    names.push_back(word.name);
  }
  refuse_command(words.front(), names);
}

void parse_and_execute(const std::vector<std::string>& all, const std::vector<Command>& commands) {
  const auto declared = declare(commands);
  const auto known = first_words(declared);
  if (all.empty()) {
    std::cout << program_help(known);
    return;
  }
  const auto& first = all.front();
  if (first == "help" && all.size() > 1) {
    // proca help data verify: as proca data verify --help
    std::vector<std::string> words(all.begin() + 1, all.end());
    words.emplace_back("--help");
    return execute_first_word(words, known);
  }
  if (first == "--help" || first == "-h" || first == "help") {
    std::cout << program_help(known);
    return;
  }
  if (first == "--version" || first == "version") {
    std::cout << version_text() << '\n';
    return;
  }
  if (is_flag(first)) {
    throw InvalidOption(fmt::format("{}: a command comes first; see proca --help", first));
  }
  execute_first_word(all, known);
}

}  // namespace

int run_command_line(int argc, char** argv, const std::vector<Command>& commands) {
  const PrintableOutput printable_output;
  try {
    check_address_space();
    parse_and_execute({argv + std::min(argc, 1), argv + argc}, with_descriptions(commands));
    if (!std::cout.flush()) throw Error("standard output: writing failed");
    return 0;
  } catch (...) {
    return report_failure(std::current_exception());
  }
}

}  // namespace proca::app
