#pragma once

#include "core/files/embedded_file.h"

namespace proca {

/// The files of `presets/` and of `experiments/`, by name.
std::span<const EmbeddedFile> embedded_presets();
std::span<const EmbeddedFile> embedded_experiments();

}  // namespace proca
