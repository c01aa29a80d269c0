#pragma once

#include <string>

namespace proca::app {

std::string libtorch_version();

/// Versions of the program and of LibTorch, and what was built in.
std::string version_text();

}  // namespace proca::app
