#pragma once

#include <string>

namespace proca {

/// Of this library, such as `0.1.0`.
std::string library_version();

}  // namespace proca
