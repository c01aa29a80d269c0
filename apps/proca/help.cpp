#include "help.h"

#include <algorithm>

#include <fmt/format.h>

namespace proca::app {
namespace {

// "  --name TYPE                 what it is"; a long name has a line of its own.
std::string line(const std::string& name, const std::string& text) {
  constexpr size_t kColumn = 30;
  if (name.size() + 3 > kColumn) {
    return fmt::format("  {}\n{:{}}  {}\n", name, "", kColumn - 2, text);
  }
  return fmt::format("  {:<{}}{}\n", name, kColumn - 2, text);
}

std::string line(const Option& option) {
  const auto dashes = option.shape == Option::Shape::kPositional ? "" : "--";
  const auto type = option.type.empty() ? "" : " " + option.type;
  return line(dashes + option.name + type, description(option));
}

std::string members_help(const std::vector<const DeclaredCommand*>& members) {
  std::string text;
  for (const auto* member : members) text += line(last_word(*member), member->summary);
  return text.empty() ? "" : "\nCommands:\n" + text;
}

constexpr std::string_view kHelpName = "-h,--help";

}  // namespace

std::string program_help(const std::vector<CommandWord>& words) {
  auto text =
      "Keeps an image classifier working while its world changes.\n"
      "Usage: proca COMMAND [OPTIONS]\n\nOptions:\n" +
      line(std::string(kHelpName), "Print this help and stop") +
      line("--version", "Print versions and stop") + "\nCommands:\n";
  for (const auto& word : words) text += line(word.name, word.summary);
  return text +
         "\nproca help COMMAND, or proca COMMAND --help, prints the options of a command.\n"
         "proca demo shows all of it in a minute.\n";
}

std::string word_help(const CommandWord& word) {
  if (word.command != nullptr) return command_help(*word.command) + members_help(word.members);
  return fmt::format("{}\nUsage: proca {} COMMAND [OPTIONS]\n{}", word.summary, word.name,
                     members_help(word.members));
}

std::string command_help(const DeclaredCommand& command) {
  const auto is_positional = [](const Option& option) {
    return option.shape == Option::Shape::kPositional;
  };
  const auto& options = command.options->options();
  auto text = fmt::format("{}\nUsage: proca {} [OPTIONS]", command.summary, command.name);
  const auto positional = std::find_if(options.begin(), options.end(), is_positional);
  if (positional != options.end()) {
    text += fmt::format(" {0}...\n\nPositionals:\n{1}", positional->name, line(*positional));
  } else {
    text += '\n';
  }
  std::vector<std::string> sections;
  for (const auto& option : options) {
    if (std::find(sections.begin(), sections.end(), option.section) == sections.end()) {
      sections.push_back(option.section);
    }
  }
  const auto* method = command.options->find("method");
  const bool of_one_method = method != nullptr && *method->chosen;
  std::string often_used;
  for (const auto& option : options) {
    if (option.often_used && !is_positional(option)) often_used += line(option);
  }
  if (!often_used.empty()) text += "\nMost used options:\n" + often_used;
  for (const auto& section : sections) {
    std::string lines;
    for (const auto& option : options) {
      // A method's options have a value if the chosen method has them.
      const bool foreign = section == "method" && of_one_method && option.toml().empty();
      const bool here = option.section == section && !option.often_used;
      if (here && !foreign && !is_positional(option)) lines += line(option);
    }
    if (lines.empty()) continue;
    if (section == "method" && of_one_method) {
      text += fmt::format("\nOptions of the method {}:\n", method->toml());
    } else if (section.empty()) {
      text += often_used.empty() ? "\nOptions:\n" : "\nFurther options:\n";
    } else {
      text += fmt::format("\nOptions of [{}]:\n", section);
    }
    text += lines;
  }
  if (method != nullptr && !of_one_method) {
    text += "\nWith --method NAME, --help shows only the options of that method.\n";
  }
  text += "\nCommon options:\n";
  for (const auto& option : command.common_options->options()) text += line(option);
  return text + line(std::string(kHelpName), "Print this help and stop");
}

}  // namespace proca::app
