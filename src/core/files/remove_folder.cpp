#include "core/files/remove_folder.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {

namespace fs = std::filesystem;

void remove_folder(const fs::path& folder) {
  std::error_code none;
  const auto status = fs::symlink_status(folder, none);
  if (!fs::exists(status)) return;
  if (fs::is_symlink(status)) return remove_file(folder);
  for (const auto& entry : entries_of(folder)) {
    // A link to a folder is none itself.
    fs::is_directory(fs::symlink_status(entry, none)) ? remove_folder(entry) : remove_file(entry);
  }
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return;
  throw Error(fmt::format("{}: cannot be removed: {}", folder.string(), std::strerror(errno)));
}

void remove_if_empty(const fs::path& folder) {
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) {
    return;
  }
  throw Error(fmt::format("{}: cannot be removed: {}", folder.string(), std::strerror(errno)));
}

}  // namespace proca
