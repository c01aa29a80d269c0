#pragma once

#include <string>
#include <string_view>

namespace proca {

/// A checksum that a text carries itself, as its last line, so that a flipped bit is found
/// in files that no other file names. It is the CRC-32 of everything in front of it, and
/// part of the language: a last member of a JSON object, a last comment of a TOML file.
///
/// Example: `seal_json("{\n  \"step\": 3\n}\n")` is
/// ```
/// {
///   "step": 3,
///   "crc32": "4f3815cc"
/// }
/// ```
///
/// `text` is a JSON object with at least one member.
std::string seal_json(std::string_view text);
/// `text` ends with a line break.
std::string seal_toml(std::string_view text);

/// What a text says about itself.
enum class Seal {
  kIntact,  ///< its checksum is right
  kBroken,  ///< it has one, which is not that of the text, or is not written as it should be
  kNone,    ///< it has none, as texts of earlier versions
};

Seal check_json_seal(std::string_view text);
Seal check_toml_seal(std::string_view text);

/// Throws `InputError` with the file's name if the seal is broken.
void refuse_broken_seal(Seal seal, const std::string& origin);

}  // namespace proca
