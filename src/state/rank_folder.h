#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/files/scratch_folder.h"
#include "proca/compute/ranks.h"

namespace proca::state {

/// Where a rank keeps its state: rank 0 in the folder itself, each other rank in a copy of
/// its own, which is removed in the end. So every rank works as it would alone, only
/// rank 0 writes what is kept, and the others need no access to its disk.
class RankFolder {
 public:
  /// All ranks must construct it at the same time. Without ranks it is `folder`.
  RankFolder(const std::shared_ptr<compute::Ranks>& ranks, std::filesystem::path folder);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<ScratchFolder> scratch_;
  std::filesystem::path path_;
};

}  // namespace proca::state
