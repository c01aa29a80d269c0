#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace proca::models {

/// Reads untrusted bytes from front to back. Every step is checked against the
/// end, so a parser that uses it cannot read outside the file.
///
/// Numbers are little-endian. Nothing is copied: spans and texts point into
/// the bytes, which must outlive them.
class ByteReader {
 public:
  /// `name` begins every message: `weights.pth: its zip directory`.
  ByteReader(std::span<const uint8_t> bytes, std::string name);

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  std::span<const uint8_t> take(uint64_t count);
  std::string_view take_text(uint64_t count);
  /// Up to the next line feed, which is taken too but not returned.
  std::string_view take_line();

  template <std::unsigned_integral T>
  T take_number() {
    T value = 0;
    const auto bytes = take(sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{bytes[i]} << (8 * i));
    return value;
  }

  /// Throws `InputError`: name, position, reason.
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  std::span<const uint8_t> bytes_;
  std::string name_;
  uint64_t position_ = 0;
};

/// Text from a file, fit for a message: in quotes, at most 80 characters, with
/// everything but printable ASCII as `\xNN`, so that no file can write control
/// characters to a terminal.
std::string printable(std::string_view text);

}  // namespace proca::models
