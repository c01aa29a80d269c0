#pragma once

#include <exception>
#include <string>

namespace proca::compute {

/// What went wrong, in one line: LibTorch's messages go on with stack traces and source code.
std::string failure_text(const std::exception& error);

/// How much memory LibTorch or the C++ library could not get: `2000.0 MB of memory`, or `memory`
/// where the exception does not say; empty if that is not what went wrong.
std::string memory_wanted(const std::exception& error);

}  // namespace proca::compute
