#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shell/completion.h"
#include "shell/value_hints.h"

namespace proca::app {
namespace {

constexpr std::string_view kBashHead =
    R"(# bash completion of proca, as "proca completion bash" prints it.

_proca() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command=
  # Bash takes --method=proca for three words.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $option == "=" && $COMP_CWORD -ge 2 ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi
  if ((COMP_CWORD > 2)); then
    case "$command ${COMP_WORDS[2]}" in
      )";

// Between the list of two-word commands and the table of all commands.
constexpr std::string_view kBashMiddle = R"() command+=" ${COMP_WORDS[2]}" ;;
    esac
  fi
  # What may stand here: words, and paths of a kind; for an option its values.
  local words= paths= options= value=
  case $command in
)";

constexpr std::string_view kBashTail = R"(  esac
  if [[ -z $value && $current == -* ]]; then
    words=$options paths=
  elif [[ -z $value && -z $words && -z $paths ]]; then
    words=$options
  fi
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "${words// /$'\n'}" -- "$current"))
  case $paths in
    folders) COMPREPLY+=($(compgen -d -- "$current")) ;;
    files) COMPREPLY+=($(compgen -f -- "$current")) ;;
  esac
  # Marks folders with a slash and quotes blanks; only known to bash inside a completion.
  if [[ -n $paths ]]; then compopt -o filenames 2>/dev/null; fi
}

complete -F _proca proca
)";

std::string assignments(const ValueHints& hints) {
  const auto* paths = hints.paths == ValueHints::Paths::kFiles     ? "files"
                      : hints.paths == ValueHints::Paths::kFolders ? "folders"
                                                                   : "";
  return fmt::format("words='{}' paths={}", fmt::join(hints.words, " "), paths);
}

// One branch of the table: the words that may follow, the flags, and the flags' values.
std::string branch(const std::string& command, const std::string& members,
                   const DeclaredCommand& declared) {
  std::string flags = "--help", own;
  std::map<std::string, std::string> values;  // by what they set: the flags
  for (const auto* option : declared.all_options()) {
    const auto hints = assignments(value_hints(*option));
    if (option->shape == Option::Shape::kPositional) {
      own = hints;
      continue;
    }
    flags += " --" + option->name;
    if (option->shape == Option::Shape::kSwitch) continue;
    auto& known = values[hints];
    known += (known.empty() ? "--" : "|--") + option->name;
  }
  if (!members.empty()) own = fmt::format("words='{}'", members);
  auto text =
      fmt::format("    '{}')\n      {} options='{}'\n      case $option in\n", command, own, flags);
  for (const auto& [hints, names] : values) {
    // Empty for a number: nothing is offered, and above all no flags.
    text += fmt::format("        {}) value=1 {} ;;\n", names, hints);
  }
  return text + "      esac ;;\n";
}

}  // namespace

std::string bash_completion(const std::vector<DeclaredCommand>& commands) {
  std::vector<std::string> first, pairs;
  std::string table;
  for (const auto& word : first_words(commands)) {
    first.push_back(word.name);
    std::vector<std::string> members;
    for (const auto* member : word.members) {
      members.push_back(member->name.substr(word.name.size() + 1));
      pairs.push_back('"' + member->name + '"');
      table += branch(member->name, "", *member);
    }
    const auto choices = fmt::format("{}", fmt::join(members, " "));
    table += word.command != nullptr
                 ? branch(word.name, choices, *word.command)
                 : fmt::format("    '{}') words='{}' options='--help' ;;\n", word.name, choices);
  }
  return fmt::format("{}{}{}    '') words='{}' options='--help --version' ;;\n{}{}", kBashHead,
                     fmt::join(pairs, "|"), kBashMiddle, fmt::join(first, " "), table, kBashTail);
}

}  // namespace proca::app
