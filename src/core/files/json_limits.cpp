#include "core/files/json_limits.h"

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca {

void check_json_limits(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    throw InputError(fmt::format("{}: has {} bytes of JSON; {} are allowed", origin, text.size(),
                                 limits.max_bytes));
  }
  int64_t depth = 0;
  bool in_string = false;
  for (size_t place = 0; place < text.size(); ++place) {
    const char c = text[place];
    if (in_string) {
      if (c == '\\') ++place;  // What follows is no end.
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limits.max_depth) {
        throw InputError(fmt::format("{}: has JSON that nests more than {} levels deep", origin,
                                     limits.max_depth));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

}  // namespace proca
