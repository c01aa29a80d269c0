#include "core/files/lock_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/open_file.h"
#include "proca/core/error.h"

namespace proca {

namespace {

// Whether the open file is still the one of that name: its owner may have
// deleted it between our opening and our locking it.
bool is_current(int descriptor, const std::filesystem::path& path) {
  struct stat mine {
  }, named{};
  return ::fstat(descriptor, &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
         mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

// `is_locked` has the lock for a moment, to see whether it can be had. That must not keep
// a writer away.
bool lock(int descriptor) {
  constexpr int kAttempts = 5;
  for (int attempt = 1; attempt < kAttempts; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

std::string owner_of(int descriptor) {
  std::array<char, 32> owner{};
  const auto length = ::pread(descriptor, owner.data(), owner.size(), 0);
  return {owner.data(), static_cast<size_t>(length > 0 ? length : 0)};
}

[[noreturn]] void refuse(const std::filesystem::path& path, const char* activity,
                         const std::string& owner) {
  throw InputError(fmt::format("{}: is being {} by process {}; wait for it to end",
                               path.has_parent_path() ? path.parent_path().string() : ".", activity,
                               owner));
}

}  // namespace

LockFile::LockFile(const std::filesystem::path& path, const char* activity) {
  descriptor_ = open_for_writing(path, Creation::kKeep);
  while (lock(descriptor_) && !is_current(descriptor_, path)) {
    ::close(descriptor_);
    descriptor_ = open_for_writing(path, Creation::kKeep);
  }
  if (!lock(descriptor_)) {
    const std::string why = std::strerror(errno);
    const bool is_taken = errno == EWOULDBLOCK;
    const auto owner = owner_of(descriptor_);
    ::close(descriptor_);
    if (!is_taken) throw Error(fmt::format("{}: cannot be locked: {}", path.string(), why));
    refuse(path, activity, owner);
  }
  const auto id = fmt::format("{}", ::getpid());
  // The id only serves the other process's message, so a failure here is no error.
  if (::ftruncate(descriptor_, 0) == 0) {
    [[maybe_unused]] const auto written = ::pwrite(descriptor_, id.data(), id.size(), 0);
  }
}

LockFile::~LockFile() { ::close(descriptor_); }

void refuse_if_locked(const std::filesystem::path& path) {
  if (!is_locked(path)) return;
  const int descriptor = try_open_for_reading(path);
  const auto owner = descriptor < 0 ? "" : owner_of(descriptor);
  if (descriptor >= 0) ::close(descriptor);
  refuse(path, "written", owner);
}

bool is_locked(const std::filesystem::path& path) {
  const int descriptor = try_open_for_reading(path);
  if (descriptor < 0) return false;
  const bool is_held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return is_held;
}

}  // namespace proca
