#pragma once

#include <nlohmann/json.hpp>

#include "proca/engine/state_directory.h"

namespace proca::engine {

/// `state.json` without its list of files. `from_json` throws
/// `nlohmann::json::exception` when a key is missing or of the wrong type.
nlohmann::ordered_json to_json(const Manifest& manifest);
Manifest manifest_from_json(const nlohmann::json& json);

}  // namespace proca::engine
