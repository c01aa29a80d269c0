#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proca/config/toml.h"

namespace proca {

/// A table header or a `key = value` of a TOML document, on one line and in a form
/// that CLI11 reads rightly. CLI11 by itself splits at `#`, commas and brackets even
/// inside quotes, leaves escapes as they are, takes a header with a comment behind
/// it for a key, and comments inside an array for its elements.
struct TomlStatement {
  /// Without comments and line breaks; every quoted string is replaced by a mark
  /// (a number between control characters) that `restore` turns back.
  std::string text;
  std::vector<std::string> strings;  ///< what the quoted strings stand for
  int64_t line = 0;                  ///< where it begins, from 1

  bool is_table() const { return text.starts_with('['); }
};

/// Throws `InputError` with `origin:line` for strings and arrays without an end and
/// for lines that are neither header nor `key = value`, and for what is beyond `limits`.
std::vector<TomlStatement> split_toml(std::string_view text, const std::string& origin,
                                      const TomlLimits& limits);

/// Whether a word of a statement was quoted as a whole.
bool is_quoted(std::string_view word);

/// The string that a quoted word stands for.
const std::string& restore(std::string_view word, const TomlStatement& statement);

/// `text` without blanks at its ends.
std::string_view trim_blanks(std::string_view text);

[[noreturn]] void refuse_toml(const std::string& origin, int64_t line, std::string_view reason);

}  // namespace proca
