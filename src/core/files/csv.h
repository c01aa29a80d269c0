#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proca {

/// A field of a CSV line (RFC 4180): quoted where needed, quotes doubled.
std::string csv_field(const std::string& text);

/// The fields of one line without its line break, quotes removed; at least one, which
/// is empty for an empty line. Fields that go on in the next line are not supported.
/// Nothing if a quote is left open, or something stands before or after a quoted field.
///
/// Example:
/// ```
/// csv_fields("7,\"a, b\",");  // {"7", "a, b", ""}
/// ```
std::optional<std::vector<std::string>> csv_fields(std::string_view line);

}  // namespace proca
