#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proca {

/// A number and what it counts: "1 image", "2 images", "0 classes".
inline std::string counted(int64_t count, std::string_view noun) {
  auto text = std::to_string(count) + " " + std::string(noun);
  if (count == 1) return text;
  const bool hisses = noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("tch");
  return text + (hisses ? "es" : "s");
}

}  // namespace proca
