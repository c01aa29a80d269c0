#include "declared_command.h"

#include <algorithm>

#include <fmt/format.h>

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

std::vector<const Option*> DeclaredCommand::all_options() const {
  std::vector<const Option*> all;
  for (const auto& option : options->options()) all.push_back(&option);
  for (const auto& option : common_options->options()) all.push_back(&option);
  return all;
}

std::vector<DeclaredCommand> declare(const std::vector<Command>& commands) {
  std::vector<DeclaredCommand> declared;
  for (const auto& command : commands) {
    auto& one = declared.emplace_back();
    one.name = command.name;
    one.summary = command.summary;
    one.run = command.configure(*one.options);
    one.common->bind(*one.common_options);
  }
  return declared;
}

std::vector<CommandWord> first_words(const std::vector<DeclaredCommand>& commands) {
  std::vector<CommandWord> words;
  for (const auto& command : commands) {
    const auto first = command.name.substr(0, command.name.find(' '));
    auto word = std::find_if(words.begin(), words.end(),
                             [&](const auto& known) { return known.name == first; });
    if (word == words.end()) {
      words.push_back({first, first == "data" ? "data sets" : "", nullptr, {}});
      word = std::prev(words.end());
    }
    if (first == command.name) {
      word->summary = command.summary;
      word->command = &command;
    } else {
      word->members.push_back(&command);
    }
  }
  return words;
}

std::string last_word(const DeclaredCommand& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::string description(const Option& option) {
  auto text = option.help;
  std::string facts;
  if (option.required) {
    facts = "required";
  } else if (option.shape != Option::Shape::kPositional) {
    const auto value = option.shown_default.empty() ? option.toml() : option.shown_default;
    if (!value.empty() && value != "\"\"" && value != "[]") facts = "default " + value;
  }
  if (!option.range.empty()) facts += (facts.empty() ? "" : "; ") + option.range;
  return facts.empty() ? text : fmt::format("{} [{}]", text, facts);
}

}  // namespace proca::app
