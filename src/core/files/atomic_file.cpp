#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/open_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

// The names of temporary files end in the id of the process that writes them, and in a number
// after it if that is taken: processes in two containers may have the same id.
constexpr const char* kTemporary = ".tmp-";

// The process that a temporary file's name ends in; 0 if it ends in something else.
pid_t owner_in(std::string_view ending) {
  pid_t owner = 0;
  int64_t number = 0;
  const auto* last = ending.data() + ending.size();
  auto parsed = std::from_chars(ending.data(), last, owner);
  if (parsed.ec == std::errc{} && parsed.ptr != last && *parsed.ptr == '-') {
    parsed = std::from_chars(parsed.ptr + 1, last, number);
  }
  return parsed.ec == std::errc{} && parsed.ptr == last && owner > 0 ? owner : 0;
}

// A writer holds a lock on its file, which also one on another machine sees.
void remove_unless_locked(const fs::path& path) {
  const int descriptor = try_open_for_reading(path);
  if (descriptor < 0) return;
  const bool is_held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  if (!is_held) ::unlink(path.c_str());
  ::close(descriptor);
}

// Whether the file still has a name: another process may have taken it for a leftover before it
// was locked.
bool has_name(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

struct OpenTemporary {
  fs::path path;
  int descriptor = -1;
};

OpenTemporary open_temporary(const fs::path& target) {
  constexpr int kAttempts = 1000;
  const auto first = fmt::format("{}{}{}", target.string(), kTemporary, ::getpid());
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const fs::path path = attempt == 1 ? first : fmt::format("{}-{}", first, attempt);
    int descriptor = try_open_for_writing(path, Creation::kNew);
    if (descriptor < 0 && errno == EEXIST) {
      remove_unless_locked(path);
      descriptor = try_open_for_writing(path, Creation::kNew);
    }
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) {
      throw InputError(
          fmt::format("{}: cannot be written: {}", target.string(), std::strerror(errno)));
    }
    ::flock(descriptor, LOCK_EX);
    if (has_name(descriptor)) return {path, descriptor};
    ::close(descriptor);
  }
  throw InputError(fmt::format("{}: cannot be written: too many files {}-* are in the way",
                               target.string(), first));
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code unreadable;  // Opening will give the reason.
  if (fs::is_directory(path_, unreadable)) {
    throw InputError(fmt::format("{}: cannot be written: it is a folder", path_.string()));
  }
  // A device or pipe would be replaced by a file.
  if (fs::exists(path_, unreadable) && !fs::is_regular_file(path_, unreadable)) {
    throw InputError(fmt::format("{}: cannot be written: it is no ordinary file", path_.string()));
  }
  auto opened = open_temporary(path_);
  temporary_ = std::move(opened.path);
  descriptor_ = opened.descriptor;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::unlink(temporary_.c_str());
    ::close(descriptor_);
  }
}

void AtomicFile::write(std::span<const uint8_t> bytes) {
  const int64_t offset = size_;
  size_ += static_cast<int64_t>(bytes.size());
  write_at(offset, bytes);
  // The disk begins while more comes: syncing the file takes less. Only a hint;
  // what goes wrong comes out there.
  constexpr int64_t kPiece = int64_t{8} << 20;
  if (offset / kPiece != size_ / kPiece) {
    ::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE);
  }
}

void AtomicFile::write(std::string_view text) { write(bytes_of(text)); }

void AtomicFile::write_at(int64_t offset, std::span<const uint8_t> bytes) {
  write_fully(descriptor_, bytes, offset, path_);
}

void AtomicFile::commit(Sync sync) {
  if (sync == Sync::kNow && ::fsync(descriptor_) != 0) {
    throw Error(fmt::format("{}: writing failed: {}", path_.string(), std::strerror(errno)));
  }
  rename_file(temporary_, path_);
  ::close(std::exchange(descriptor_, -1));
  if (sync == Sync::kNow) {
    sync_folder(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
  }
}

void remove_leftovers(const fs::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code none;
  if (!fs::is_directory(folder, none)) return;
  const auto prefix = path.filename().string() + kTemporary;
  for (const auto& entry : entries_of(folder)) {
    const auto name = entry.filename().string();
    if (!name.starts_with(prefix)) continue;
    const auto owner = owner_in(std::string_view(name).substr(prefix.size()));
    const bool is_gone = owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
    if (is_gone) remove_unless_locked(entry);
  }
}

}  // namespace proca
