#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proca {

/// One `key = value` of a TOML document.
struct TomlEntry {
  std::string section;  ///< dotted name of its table; empty at the top level
  std::string key;
  std::vector<std::string> values;  ///< one, or the elements of an array
  int64_t line = 0;                 ///< where it stands, from 1; 0 if it cannot be told
};

/// The largest document that is read. Tables nest by their names only, arrays not at all.
struct TomlLimits {
  int64_t max_bytes = 16 << 20;         ///< of the whole text
  int64_t max_string_bytes = 64 << 10;  ///< of a string in quotes
  int64_t max_elements = 32'768;        ///< of an array: ImageNet's 21,841 classes in order
  int64_t max_name_words = 16;          ///< of a name such as `a.b.c`
};

/// Reads the part of TOML that configuration needs: tables, strings, numbers,
/// booleans and flat arrays of them, comments. Values are returned as text, strings
/// without quotes and escapes.
///
/// Throws `InputError` naming `origin` when the text is not valid TOML or is beyond `limits`.
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& origin,
                                  const TomlLimits& limits = {});

}  // namespace proca
