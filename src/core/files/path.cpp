#include "core/files/path.h"

namespace proca {

namespace fs = std::filesystem;

// lexically_normal() would also take `link/..` out, which is not the folder that holds the link
// but the one above its target.
fs::path normalise_path(const fs::path& path) {
  if (path.empty()) return path;
  fs::path result = path.is_absolute() ? "/" : "";
  for (const auto& part : path.relative_path()) {
    if (!part.empty() && part != ".") result /= part;
  }
  if (result.empty()) return ".";
  const bool looks_like_a_flag = result.native().starts_with('-');
  return looks_like_a_flag && !path.native().starts_with('-') ? "." / result : result;
}

fs::path absolute_path(const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); }

}  // namespace proca
