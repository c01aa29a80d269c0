#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proca {

/// The number that the whole of `text` is; nothing if it is none, is too large or is below
/// `least`.
inline std::optional<int64_t> parse_whole_number(std::string_view text, int64_t least = 0) {
  int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end || number < least) return std::nullopt;
  return number;
}

}  // namespace proca
