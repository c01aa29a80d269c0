#pragma once

#include <span>
#include <string_view>

namespace proca::report {

/// A file of `paper/` as it was when the library was built.
struct EmbeddedPaper {
  std::string_view name;  ///< of the file, without `.csv`: that of an experiment
  std::string_view csv;
};

/// All of them, by name.
std::span<const EmbeddedPaper> embedded_paper();

}  // namespace proca::report
