#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shell/completion.h"
#include "shell/value_hints.h"

namespace proca::app {
namespace {

constexpr std::string_view kZshHead = R"(#compdef proca
# zsh completion of proca, as "proca completion zsh" prints it.

)";

constexpr std::string_view kZshTail = R"(
# Read by the completion system it is the function's body; sourced, it says so.
if [[ $funcstack[1] == _proca ]]; then
  _proca "$@"
else
  compdef _proca proca
fi
)";

// Inside a specification in single quotes; brackets and colons have a meaning there.
std::string escape_for_zsh(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string action(const ValueHints& hints) {
  const auto words = fmt::format("({})", fmt::join(hints.words, " "));
  switch (hints.paths) {
    case ValueHints::Paths::kFolders:
      return "_directories";
    case ValueHints::Paths::kFiles:
      if (hints.words.empty()) return "_files";
      return fmt::format("_alternative \"names\\:name\\:{}\" \"files\\:file\\:_files\"", words);
    case ValueHints::Paths::kNone:
      break;
  }
  return hints.words.empty() ? " " : words;
}

// One argument of _arguments: '--state[help]:DIR:_directories'.
std::string specification(const Option& option) {
  const auto value =
      fmt::format(":{}:{}", escape_for_zsh(option.type), action(value_hints(option)));
  if (option.shape == Option::Shape::kPositional) return fmt::format("'*{}'", value);
  const bool is_switch = option.shape == Option::Shape::kSwitch;
  return fmt::format("'{}--{}[{}]{}'", option.shape == Option::Shape::kList ? "*" : "", option.name,
                     escape_for_zsh(description(option)), is_switch ? "" : value);
}

std::string function_name(std::string command) {
  for (auto& c : command) {
    if (c == ' ' || c == '-') c = '_';
  }
  return "_proca_" + command;
}

// What every command has beside its options.
constexpr std::string_view kHelp = "'(- *)--help[Print this help and stop]'";

std::string specifications(const DeclaredCommand& command) {
  std::string text;
  for (const auto* option : command.all_options()) {
    text += fmt::format("    {} \\\n", specification(*option));
  }
  return text;
}

std::string options_function(const DeclaredCommand& command) {
  return fmt::format("{}() {{\n  _arguments \\\n{}    {}\n}}\n\n", function_name(command.name),
                     specifications(command), kHelp);
}

struct Choice {
  std::string word, summary, function;
};

// A function that offers the words, and `options` beside them; behind a word it calls
// the word's function.
std::string words_function(const std::string& name, const std::vector<Choice>& choices,
                           const std::string& options) {
  auto text = fmt::format(
      "{}() {{\n  local curcontext=\"$curcontext\" state line\n  local -a choices=(\n", name);
  for (const auto& [word, summary, function] : choices) {
    text += fmt::format("    '{}:{}'\n", word, escape_for_zsh(summary));
  }
  text +=
      fmt::format("  )\n  _arguments -C \\\n{}    {} '1: :->word' '*:: :->rest'\n", options, kHelp);
  text += "  case $state in\n    word) _describe command choices ;;\n    rest)\n";
  text += "      case $words[1] in\n";
  for (const auto& [word, summary, function] : choices) {
    text += fmt::format("        {}) {} ;;\n", word, function);
  }
  return text + "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const std::vector<DeclaredCommand>& commands) {
  std::string functions;
  std::vector<Choice> first;
  for (const auto& word : first_words(commands)) {
    std::vector<Choice> members;
    for (const auto* member : word.members) {
      functions += options_function(*member);
      members.push_back({member->name.substr(word.name.size() + 1), member->summary,
                         function_name(member->name)});
    }
    const auto function = function_name(word.name);
    first.push_back({word.name, word.summary, function});
    if (members.empty()) {
      functions += options_function(*word.command);
    } else {
      functions += words_function(function, members,
                                  word.command != nullptr ? specifications(*word.command) : "");
    }
  }
  return fmt::format(
      "{}{}{}{}", kZshHead, functions,
      words_function("_proca", first, "    '(- *)--version[Print versions and stop]' \\\n"),
      kZshTail);
}

}  // namespace proca::app
