#pragma once

#include <string>
#include <string_view>

namespace proca {

/// The CRC-32 of a text as eight hexadecimal digits.
std::string crc32_digits(std::string_view text);

/// A checksum that a text carries itself, as its last line, so that a flipped bit is found
/// in files that no other file names. It is the CRC-32 of everything in front of it, and
/// part of the language: a last member of a JSON object, a last comment of a TOML file.
///
/// Example: `append_json_checksum("{\n  \"step\": 3\n}\n")` is
/// ```
/// {
///   "step": 3,
///   "crc32": "4f3815cc"
/// }
/// ```
///
/// `text` is a JSON object with at least one member.
std::string append_json_checksum(std::string_view text);
/// `text` ends with a line break.
std::string append_toml_checksum(std::string_view text);

/// The state of a text's own checksum.
enum class TextChecksum {
  kRight,
  kWrong,  ///< not that of the text, or not written as it should be
  kNone,   ///< there is none, as in texts of earlier versions
};

TextChecksum check_json_checksum(std::string_view text);
TextChecksum check_toml_checksum(std::string_view text);

/// Throws `InputError` with the file's name if the checksum is wrong.
void refuse_wrong_checksum(TextChecksum checksum, const std::string& origin);

}  // namespace proca
