#include "core/files/open_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

// What `open` gives for a folder or a pipe where a file should be depends on the flags; one
// number stands for all of it.
constexpr int kNotAFile = ESPIPE;

// Without O_NONBLOCK opening a pipe waits for the process at its other end.
int open_ordinary(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    if (errno == EISDIR || errno == ENXIO) errno = kNotAFile;
    return -1;
  }
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
  ::close(descriptor);
  errno = kNotAFile;
  return -1;
}

}  // namespace

int try_open_for_reading(const fs::path& path) { return open_ordinary(path, O_RDONLY); }

int open_for_reading(const fs::path& path) {
  const int descriptor = try_open_for_reading(path);
  if (descriptor >= 0) return descriptor;
  if (errno == kNotAFile) throw InputError(fmt::format("{}: is not a file", path.string()));
  throw InputError(fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
}

int try_open_for_writing(const fs::path& path, Creation creation) {
  const int how = creation == Creation::kNew ? O_EXCL : O_NOFOLLOW;
  return open_ordinary(path, O_RDWR | O_CREAT | how);
}

int open_for_writing(const fs::path& path, Creation creation) {
  const int descriptor = try_open_for_writing(path, creation);
  if (descriptor >= 0) return descriptor;
  const auto why = errno == ELOOP       ? "it is a link to elsewhere"
                   : errno == kNotAFile ? "it is not a file"
                                        : std::strerror(errno);
  throw InputError(fmt::format("{}: cannot be written: {}", path.string(), why));
}

void create_folder_inside(const fs::path& folder, const fs::path& inside) {
  auto path = folder;
  for (const auto& part : inside) {
    path /= part;
    std::error_code missing;
    if (!fs::is_symlink(path, missing)) continue;
    throw InputError(
        fmt::format("{}: cannot be written: it is a link to elsewhere", path.string()));
  }
  create_writable_folder(path);
}

}  // namespace proca
