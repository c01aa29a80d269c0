#include "state/rank_folder.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "compute/broadcast_bytes.h"
#include "core/files/path.h"
#include "proca/core/file.h"
#include "state/state_files.h"

namespace proca::state {
namespace {

namespace fs = std::filesystem;

// The lock is rank 0's, and so are earlier steps; nothing reads a report.
bool is_left_out(const fs::path& file) {
  return file.filename() == kLockFile || file.filename() == "report.html" ||
         *file.begin() == kHistoryFolder;
}

std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto file = entry.path().lexically_relative(folder);
    if (entry.is_regular_file() && !is_left_out(file)) files.push_back(file.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

RankFolder::RankFolder(const std::shared_ptr<compute::Ranks>& ranks, fs::path folder)
    : path_(normalise_path(folder)) {
  if (!ranks || ranks->size() == 1) return;
  const bool is_first = ranks->rank() == 0;
  if (!is_first) {
    scratch_.emplace(fs::temp_directory_path() / "proca-rank");
    path_ = scratch_->path() / path_.filename();
  }
  const auto listing = nlohmann::json(is_first ? files_of(path_) : std::vector<std::string>())
                           .dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
  const auto sent = compute::broadcast_bytes(*ranks, {listing.begin(), listing.end()});
  for (const std::string name : nlohmann::json::parse(sent.begin(), sent.end())) {
    std::vector<uint8_t> content;
    if (is_first) {
      const auto text = read_text_file(path_ / name);
      content.assign(text.begin(), text.end());
    }
    content = compute::broadcast_bytes(*ranks, std::move(content));
    if (is_first) continue;
    create_writable_folder((path_ / name).parent_path());
    AtomicFile file(path_ / name);
    file.write(content);
    file.commit(Sync::kLater);
  }
}

}  // namespace proca::state
