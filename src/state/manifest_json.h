#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "proca/state/state_directory.h"

namespace proca::state {

/// Limits of a state from elsewhere, beyond those of the options.
inline constexpr int64_t kMaxSteps = 100'000;      ///< a report reads the records of each
inline constexpr int64_t kMaxClasses = 1'000'001;  ///< as many as a list file may have
inline constexpr int64_t kMaxImageSize = 65'535;   ///< pixels; the longest side of an image

/// `state.json` without its list of files. `from_json` throws
/// `nlohmann::json::exception` when a key is missing or of the wrong type, and
/// `std::invalid_argument` when a value cannot be.
nlohmann::ordered_json to_json(const Manifest& manifest);
Manifest manifest_from_json(const nlohmann::json& json);

/// A number of `json` that counts something: whole, from 0 to `limit`. Throws as above.
int64_t count_from_json(const nlohmann::json& json, const char* key,
                        int64_t limit = std::numeric_limits<int64_t>::max());

/// Throws `std::invalid_argument` for a name of a file that does not lie in the state's own
/// folder: a state must not make us read, or rename, files elsewhere.
void check_file_name(const std::string& name);

}  // namespace proca::state
