#pragma once

#include <string>
#include <vector>

namespace proca::protocol {

/// What to add to "unknown key": the nearest known word, or all of them.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace proca::protocol
