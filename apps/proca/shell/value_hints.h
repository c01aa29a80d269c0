#pragma once

#include <string>
#include <vector>

#include "proca/config/options.h"

namespace proca::app {

/// What a shell may offer where the value of an option is typed.
struct ValueHints {
  std::vector<std::string> words;
  enum class Paths { kNone, kFolders, kFiles } paths = Paths::kNone;

  bool empty() const { return words.empty() && paths == Paths::kNone; }
};

/// Follows from the option's type: `DIR`, `FILE`, `PATH`, `a|b|c`, and `METHOD`, `PRESET`,
/// `BACKBONE` and `EXPERIMENT`, which stand for the names that the program knows.
ValueHints value_hints(const Option& option);

}  // namespace proca::app
