#include <iostream>

#include <fmt/format.h>

#include "commands/commands.h"
#include "proca/core/error.h"
#include "shell/completion.h"
#include "shell/manual_page.h"

namespace proca::app {
namespace {

void print_completion(const std::vector<std::string>& shells,
                      const std::vector<DeclaredCommand>& commands) {
  if (shells.size() > 1) {
    throw InvalidOption(
        fmt::format("proca completion: takes one shell, \"{}\" is one too many", shells[1]));
  }
  if (shells.front() != "bash" && shells.front() != "zsh") {
    throw InvalidOption(
        fmt::format("proca completion: \"{}\" is not one of bash, zsh", shells.front()));
  }
  std::cout << (shells.front() == "bash" ? bash_completion(commands) : zsh_completion(commands));
}

}  // namespace

std::vector<Command> with_descriptions(std::vector<Command> commands) {
  // Each of the two holds the commands without them, and so not itself.
  const auto others = commands;
  commands.push_back({"completion", "print the completion script of a shell", [others](auto& set) {
                        const auto shells = std::make_shared<std::vector<std::string>>();
                        set.bind_positional("shell", *shells, "the shell", "bash|zsh");
                        set.require();
                        return [shells, others] {
                          print_completion(*shells, declare(with_descriptions(others)));
                        };
                      }});
  commands.push_back({"manual", "print the manual page, for man -l -", [others](auto&) {
                        return [others] {
                          std::cout << manual_page(declare(with_descriptions(others)));
                        };
                      }});
  return commands;
}

}  // namespace proca::app
