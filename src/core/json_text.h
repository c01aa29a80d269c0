#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace proca {

/// JSON as indented text with a line break at the end. Paths need not be UTF-8, JSON must
/// be: what is not is replaced.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = 2) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace proca
