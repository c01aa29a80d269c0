#pragma once

#include <filesystem>

namespace proca {

/// Keeps a second process from writing what this one writes: a writer of
/// a folder holds a lock on a file in it. The lock goes with the process,
/// however it ends, so a killed run never blocks the next; the file remains.
///
/// Throws `InputError` with the folder and the other process's id when the
/// lock is taken, and when the file cannot be written.
class LockFile {
 public:
  /// `activity` is what its owner does to the folder, for the message.
  explicit LockFile(const std::filesystem::path& path, const char* activity = "written");
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  int descriptor_ = -1;
};

/// Throws as `LockFile` does if another process holds the lock now; makes and keeps nothing.
/// To be told before long preparations.
void refuse_if_locked(const std::filesystem::path& path);

/// Whether a process holds the lock on a file that `LockFile` made. No, if there is no such
/// file, or it cannot be read.
bool is_locked(const std::filesystem::path& path);

}  // namespace proca
