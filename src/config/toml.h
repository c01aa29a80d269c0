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
  int64_t line = 0;                 ///< where the value begins, from 1
};

/// The largest document that is read.
struct TomlLimits {
  int64_t max_bytes = 4 << 20;          ///< of the whole text
  int64_t max_string_bytes = 64 << 10;  ///< of a string in quotes
  int64_t max_elements = 32'768;        ///< of an array: ImageNet's 21,841 classes in order
  int64_t max_name_words = 16;          ///< of a name such as `a.b.c`
  int64_t max_line_dots = 2048;         ///< of a line: as many tables may nest
};

/// Reads TOML 1.0 and returns its entries in the order of the document. Values are returned
/// as text: strings without quotes and escapes, numbers as `std::from_chars` reads them. More
/// than TOML allows, a value may have the name of a table: `method = "proca"` and `[method]`.
///
/// Throws `InputError` with `origin:line` when the text is not valid TOML or is beyond
/// `limits`, and for what no configuration needs: dates, arrays in arrays, arrays of tables.
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& origin,
                                  const TomlLimits& limits = {});

}  // namespace proca
