#pragma once

#include <filesystem>
#include <memory>

#include "proca/compute/ranks.h"

namespace proca::state {

/// Where a rank keeps its state: rank 0 in the folder itself, the others in a copy of it of
/// their own, which is thrown away in the end. So every rank does what it would do alone,
/// only rank 0 writes what is kept, and no other has to see its disk.
class RankFolder {
 public:
  /// All ranks must make it at the same time. Without ranks it is `folder`.
  RankFolder(const std::shared_ptr<compute::Ranks>& ranks, std::filesystem::path folder);
  ~RankFolder();
  RankFolder(const RankFolder&) = delete;
  RankFolder& operator=(const RankFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_, scratch_;
};

}  // namespace proca::state
