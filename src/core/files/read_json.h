#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/json_limits.h"
#include "proca/core/error.h"

namespace proca {

/// Keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// What the JSON library says, without its `[json.exception.out_of_range.403]`.
inline std::string json_reason(const std::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.starts_with('[') && end != text.npos ? text.substr(end + 2) : text;
}

/// What `read` returns. Missing keys and wrong types, which the JSON library reports by exceptions
/// of its own, and any `std::invalid_argument` become an `InputError` that names the damaged file.
template <typename Read>
auto reading(const std::string& origin, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is damaged: {}", origin, json_reason(error)));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: is damaged: {}", origin, error.what()));
  }
}

/// Throws `InputError` where the text is beyond `limits`, and the library's exceptions where it is
/// not JSON: call it inside of `reading`.
inline Json parse_json(std::string_view text, const std::string& origin,
                       const JsonLimits& limits = {}) {
  check_json_limits(text, origin, limits);
  return Json::parse(text);
}

/// `get<int64_t>` converts 1.5, and 1e30 is undefined behaviour; this throws
/// `std::invalid_argument`. `name` is that of the value in the message.
inline int64_t whole_number(const Json& value, const std::string& name = {}) {
  const auto shown = name.empty() ? value.dump() : name;
  if (!value.is_number_integer()) throw std::invalid_argument(shown + " is not a whole number");
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) {
    throw std::invalid_argument(shown + " is too large");
  }
  return value.get<int64_t>();
}

/// Names of folders and files may be any bytes; JSON is UTF-8. `indent` -1: on one line.
inline std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace proca
