#pragma once

#include <filesystem>

namespace proca {

/// The plain spelling of a path: no `.` among its parts, no doubled slashes, none at the end.
/// Shells complete a folder's name to `state/`; as a `std::filesystem::path` that is
/// another path than `state`, with an empty file name.
///
/// | given                 | result        |                                           |
/// |-----------------------|---------------|-------------------------------------------|
/// | `x/`, `./x`, `.//x/.` | `x`           |                                           |
/// | `x//y`                | `x/y`         |                                           |
/// | `/`, `//`             | `/`           |                                           |
/// | `.`, `./`             | `.`           |                                           |
/// | `../d/x/`             | `../d/x`      | `a/..` stays too: `a` may be a link       |
/// | `./-x`                | `./-x`        | `-x` would look like a flag               |
/// | (empty)               | (empty)       |                                           |
///
/// The file system is not asked.
std::filesystem::path normalise_path(const std::filesystem::path& path);

/// The same place from any folder: absolute, with the links in it resolved as far as it exists.
/// `std::filesystem::weakly_canonical` leaves a relative path relative while there is nothing.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// Whether there is something at `path`; false where that cannot be told, too: opening it will
/// report the reason.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

}  // namespace proca
