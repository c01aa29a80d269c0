#include "state/rank_folder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/path.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::state {
namespace {

namespace fs = std::filesystem;

// Of no use to others: who has the folder, and what is only for people.
bool is_left_out(const fs::path& file) {
  return file.filename() == "lock" || file.filename() == "report.html";
}

// Rank 0's bytes, on all ranks.
std::vector<uint8_t> send(compute::Ranks& ranks, std::vector<uint8_t> bytes) {
  auto size = torch::tensor({static_cast<int64_t>(bytes.size())}, torch::kInt64);
  ranks.broadcast(size);
  bytes.resize(static_cast<size_t>(size.item<int64_t>()));
  if (!bytes.empty()) {
    ranks.broadcast(
        torch::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, torch::kUInt8));
  }
  return bytes;
}

std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !is_left_out(entry.path())) {
      files.push_back(entry.path().lexically_relative(folder).string());
    }
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
    auto pattern = (fs::temp_directory_path() / "proca-rank-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(fmt::format("{}: cannot be created: {}", pattern, std::strerror(errno)));
    }
    scratch_ = pattern;
    path_ = scratch_ / path_.filename();
  }
  const auto listing = nlohmann::json(is_first ? files_of(path_) : std::vector<std::string>())
                           .dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
  const auto sent = send(*ranks, {listing.begin(), listing.end()});
  for (const std::string name : nlohmann::json::parse(sent.begin(), sent.end())) {
    std::vector<uint8_t> content;
    if (is_first) {
      const auto text = read_text_file(path_ / name);
      content.assign(text.begin(), text.end());
    }
    content = send(*ranks, std::move(content));
    if (is_first) continue;
    create_writable_folder((path_ / name).parent_path());
    AtomicFile file(path_ / name);
    file.write(content);
    file.commit(Sync::kLater);
  }
}

RankFolder::~RankFolder() {
  std::error_code ignored;  // A destructor has nobody to tell.
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
}

}  // namespace proca::state
