#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/json_limits.h"
#include "proca/core/error.h"

namespace proca::report {

using Json = nlohmann::ordered_json;

/// What `read` gives, or an `InputError` that names the damaged file: wrong types and
/// missing keys are told by the library's exceptions.
template <typename Read>
auto reading(const std::string& origin, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is damaged: {}", origin, error.what()));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: is damaged: {}", origin, error.what()));
  }
}

/// A number that must be whole; others, and those too large, are `std::invalid_argument`: to turn
/// 1e30 into an integer is undefined.
inline int64_t whole_number(const Json& value) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!fits) throw std::invalid_argument(value.dump() + " is not a whole number");
  return value.get<int64_t>();
}

/// The parsed text, or an `InputError` where it is beyond `limits`; else as the library throws.
inline Json parse_json(std::string_view text, const std::string& origin,
                       const JsonLimits& limits = {}) {
  check_json_limits(text, origin, limits);
  return Json::parse(text);
}

/// Names of folders and files may be anything, JSON is UTF-8.
inline std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

inline bool is_there(const std::filesystem::path& path) {
  std::error_code unreadable;  // Reading it will say why.
  return std::filesystem::exists(path, unreadable);
}

}  // namespace proca::report
