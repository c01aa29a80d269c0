#include "declared_command.h"

#include <algorithm>

#include <fmt/format.h>

namespace proca::app {

std::vector<const Option*> DeclaredCommand::all_options() const {
  std::vector<const Option*> all;
  for (const auto& option : options->options()) all.push_back(&option);
  for (const auto& option : common_options->options()) all.push_back(&option);
  return all;
}

std::vector<DeclaredCommand> declare(const std::vector<Command>& commands) {
  std::vector<DeclaredCommand> declared;
  for (const auto& command : commands) {
    DeclaredCommand one{command.name,
                        command.summary,
                        std::make_shared<OptionSet>(),
                        std::make_shared<OptionSet>(),
                        {},
                        std::make_shared<CommonOptions>()};
    one.run = command.configure(*one.options);
    one.common->bind(*one.common_options);
    declared.push_back(std::move(one));
  }
  return declared;
}

std::string group_summary(const std::string& group) {
  return group == "data" ? "data sets" : "measurements";
}

std::vector<CommandWord> first_words(const std::vector<DeclaredCommand>& commands) {
  std::vector<CommandWord> words;
  for (const auto& command : commands) {
    const auto first = command.name.substr(0, command.name.find(' '));
    auto word = std::find_if(words.begin(), words.end(),
                             [&](const auto& known) { return known.name == first; });
    if (word == words.end()) {
      words.push_back({first, group_summary(first), nullptr, {}});
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
