#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace proca::app {

/// The values of `--seeds` as numbers. Throws `InvalidOption` for one that is none from
/// 0, or is there twice.
std::vector<int64_t> parse_seeds(const std::vector<std::string>& texts);

}  // namespace proca::app
