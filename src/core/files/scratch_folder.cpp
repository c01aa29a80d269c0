#include "core/files/scratch_folder.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/parse_number.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRandomPart = "-XXXXXX";

// PREFIX-PID-XXXXXX. The id tells a folder in use from one whose process was killed.
std::optional<int64_t> owner_of_folder(const fs::path& folder, const std::string& prefix) {
  const auto name = folder.filename().string();
  if (!name.starts_with(prefix) || name.size() <= prefix.size() + kRandomPart.size()) return {};
  const auto ending = std::string_view(name).substr(prefix.size());
  return parse_whole_number(ending.substr(0, ending.size() - kRandomPart.size()), 1);
}

int open_folder(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// The temporary folder of a machine is everybody's: only our own are touched. The lock tells of
// processes in other containers, whose ids mean nothing here.
void remove_if_left(const fs::path& folder, int64_t owner) {
  if (::kill(static_cast<pid_t>(owner), 0) == 0 || errno != ESRCH) return;
  const int descriptor = open_folder(folder);
  if (descriptor < 0) return;
  struct stat status {};
  const bool is_ours = ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid();
  std::error_code ignored;  // the next one tries again
  if (is_ours && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
  ::close(descriptor);
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& prefix) {
  const auto parent = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const auto begin = prefix.filename().string() + "-";
  std::error_code unreadable;
  for (fs::directory_iterator entry(parent, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable)) {
    if (const auto owner = owner_of_folder(entry->path(), begin)) {
      remove_if_left(entry->path(), *owner);
    }
  }
  auto name = fmt::format("{}-{}{}", prefix.string(), ::getpid(), kRandomPart);
  if (::mkdtemp(name.data()) == nullptr) {
    throw InputError(fmt::format("{}: cannot be created: {}", name, std::strerror(errno)));
  }
  path_ = name;
  lock_ = open_folder(path_);
  if (lock_ >= 0) ::flock(lock_, LOCK_SH | LOCK_NB);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a destructor cannot report it
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace proca
