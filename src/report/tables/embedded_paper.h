#pragma once

#include "core/files/embedded_file.h"

namespace proca {

/// The files of `paper/`, by name.
std::span<const EmbeddedFile> embedded_paper();

}  // namespace proca
