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

/// Reads the part of TOML that configuration needs: tables, strings, numbers,
/// booleans and flat arrays of them, comments. Values are returned as text, strings
/// without quotes and escapes.
///
/// Throws `InputError` naming `origin` when the text is not valid TOML.
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& origin);

}  // namespace proca
