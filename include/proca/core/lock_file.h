#pragma once

#include <filesystem>

namespace proca {

/// Keeps a second process from writing what this one writes. The lock goes
/// with the process, however it ends, so a killed run never blocks the next.
///
/// Throws `InputError` with the other process's id when the lock is taken.
class LockFile {
 public:
  explicit LockFile(const std::filesystem::path& path);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace proca
