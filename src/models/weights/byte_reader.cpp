#include "models/weights/byte_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::models {

ByteReader::ByteReader(std::span<const uint8_t> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {}

std::span<const uint8_t> ByteReader::take(uint64_t count) {
  // Not `position + count > size`: the sum could wrap around.
  if (count > remaining()) {
    fail(fmt::format("{} more bytes are needed, but only {} are left", count, remaining()));
  }
  const auto taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

std::string_view ByteReader::take_text(uint64_t count) {
  const auto bytes = take(count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view ByteReader::take_line() {
  const auto rest = bytes_.subspan(position_);
  const auto end = std::find(rest.begin(), rest.end(), uint8_t{'\n'});
  if (end == rest.end()) fail("a line does not end");
  const auto line = take_text(static_cast<uint64_t>(end - rest.begin()));
  ++position_;
  return line;
}

void ByteReader::fail(std::string_view reason) const {
  throw InputError(fmt::format("{}, at byte {}: {}", name_, position_, reason));
}

std::string printable(std::string_view text) {
  constexpr size_t kMaxShown = 80;
  std::string result = "\"";
  for (const char c : text.substr(0, kMaxShown)) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    if (plain) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result + (text.size() > kMaxShown ? "...\"" : "\"");
}

}  // namespace proca::models
