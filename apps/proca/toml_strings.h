#pragma once

#include <string>

namespace proca::app {

/// CLI11 splits TOML at `#`, commas, brackets and blanks even inside quotes, and
/// leaves escapes as they are. So the characters of quoted strings that it would
/// trip over are replaced by control characters before it sees the text, and put
/// back in the values it returns:
///
///     unguard(value) == what the TOML string stands for
///
/// Handles basic strings ("...", with \" \\ \n \t) and literal strings ('...').
std::string guard_strings(const std::string& toml);
std::string unguard(const std::string& value);

}  // namespace proca::app
