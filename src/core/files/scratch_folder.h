#pragma once

#include <filesystem>

namespace proca {

/// A new folder for temporary files, which is removed with the object. One that a killed process
/// left is removed by the next of the same prefix and user.
class ScratchFolder {
 public:
  /// Its name begins with `prefix`, which may have folders in front. Throws `InputError` if
  /// it cannot be created.
  explicit ScratchFolder(const std::filesystem::path& prefix);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // of the folder, for as long as it is in use
};

}  // namespace proca
