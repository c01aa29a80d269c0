#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "proca/data/load_options.h"

namespace proca::engine {

/// Why a folder cannot be adapted to, whatever the state and the options of the method: it holds
/// no image, or images that cannot be read. Nothing if it can. Decodes the images.
std::optional<std::string> batch_problem(const std::filesystem::path& folder,
                                         const data::LoadOptions& load, int64_t threads);

}  // namespace proca::engine
