#pragma once

#include <string>
#include <vector>

#include "declared_command.h"

namespace proca::app {

/// Scripts that make a shell complete commands, options and their values. They follow from
/// the declarations alone, hold all words, and never start the program.
///
/// Put into effect by `source <(proca completion bash)`, or by the file's name and place:
/// `bash-completion/completions/proca`, `site-functions/_proca`.
std::string bash_completion(const std::vector<DeclaredCommand>& commands);
std::string zsh_completion(const std::vector<DeclaredCommand>& commands);

}  // namespace proca::app
