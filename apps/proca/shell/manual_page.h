#pragma once

#include <string>
#include <vector>

#include "declared_command.h"

namespace proca::app {

/// The manual page `proca.1`, in the language of man(7), with every command and option.
std::string manual_page(const std::vector<DeclaredCommand>& commands);

}  // namespace proca::app
