#pragma once

#include <filesystem>

namespace proca {

/// Removes a folder with all that is in it; links are removed, not followed, even where `folder`
/// is one. Throws `Error` naming what cannot be removed. A folder that is not there counts as
/// removed.
void remove_folder(const std::filesystem::path& folder);

/// Removes a folder unless something is in it.
void remove_if_empty(const std::filesystem::path& folder);

}  // namespace proca
