#include "state/history/state_history.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/files/open_file.h"
#include "core/files/remove_folder.h"
#include "core/parse_number.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/state_files.h"

namespace proca::state {

namespace fs = std::filesystem;

namespace {

fs::path place_in_state(int64_t step) {
  return fs::path(kHistoryFolder) / fmt::format("{:02}", step);
}

}  // namespace

void link_or_copy(const fs::path& from, const fs::path& to) {
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
  // What file systems without links say, and those that have too many of them already.
  static const std::set<int> unable = {EPERM, ENOSYS, ENOTSUP, EXDEV, EMLINK};
  if (!unable.contains(errno)) {
    throw Error(fmt::format("{}: cannot be created: {}", to.string(), std::strerror(errno)));
  }
  AtomicFile copy(to);
  copy.write(MappedFile(from).bytes());
  copy.commit();
}

fs::path StateHistory::entry(int64_t step) const { return state_ / place_in_state(step); }

bool StateHistory::has(int64_t step) const {
  return is_own_folder(state_ / kHistoryFolder) && is_own_folder(entry(step)) &&
         is_there(entry(step) / kManifestFile);
}

// Of all entries, also of those that were begun or removed in part. A link is none.
std::vector<int64_t> StateHistory::steps() const {
  std::vector<int64_t> steps;
  if (!is_own_folder(state_ / kHistoryFolder)) return steps;
  for (const auto& path : entries_of(state_ / kHistoryFolder)) {
    const auto step = parse_whole_number(path.filename().string());
    if (step && path == entry(*step) && is_own_folder(path)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// The checkpoint after a step, before its files are looked for.
StateDirectory StateHistory::read(int64_t step) const {
  StateDirectory earlier;
  earlier.folder_ = state_;
  earlier.parse_manifest(entry(step) / kManifestFile);
  for (const int64_t later : steps()) {
    if (later >= step) earlier.earlier_.push_back(entry(later));
  }
  return earlier;
}

std::vector<StateHistory::Kept> StateHistory::kept(const StateDirectory& now) const {
  std::vector<Kept> kept;
  for (const int64_t step : steps()) {
    if (step >= now.manifest_.step || !has(step)) continue;
    const auto earlier = read(step);
    const auto folder = entry(step);
    Kept found{step, static_cast<int64_t>(earlier.text_.size())};
    bool is_whole = true;
    for (const auto& [name, record] : earlier.files_) {
      const auto current = now.files_.find(name);
      const bool is_current = current != now.files_.end() && current->second.size == record.size &&
                              current->second.crc == record.crc;
      const bool is_here = is_there(folder / name);
      if (is_here) found.bytes += record.size;
      is_whole =
          is_whole &&
          (is_here || is_current || name == kKeptSourceFile ||
           std::any_of(earlier.earlier_.begin(), earlier.earlier_.end(),
                       [&file = name](const auto& place) { return is_there(place / file); }));
    }
    if (is_whole) kept.push_back(found);
  }
  return kept;
}

StateDirectory StateHistory::open(int64_t step) const {
  auto earlier = read(step);
  // The kept source images are those of now, whichever there were then.
  earlier.map_files([](const std::string& name) { return name != kKeptSourceFile; });
  return earlier;
}

// A copy has the same `state.json`, byte for byte, until its first step keeps that.
std::optional<int64_t> StateHistory::steps_since(const StateDirectory& other) const {
  StateDirectory now;
  now.folder_ = state_;
  now.load_manifest();
  if (now.text_ == other.text_) return 0;
  const int64_t step = other.manifest_.step;
  if (!has(step) || read(step).text_ != other.text_) return std::nullopt;
  return now.manifest_.step - step;
}

void StateHistory::begin(int64_t step) const {
  remove(step);
  create_folder_inside(state_, place_in_state(step));
  link_or_copy(state_ / kManifestFile, entry(step) / kManifestFile);
  for (const auto& folder : {entry(step), state_ / kHistoryFolder, state_}) sync_folder(folder);
}

void StateHistory::keep(int64_t step, const std::vector<std::string>& files) const {
  if (!has(step)) return;
  const auto before = read(step);
  std::set<fs::path> folders;
  for (const auto& file : files) {
    const auto kept = entry(step) / file;
    if (file == kKeptSourceFile) continue;  // It belongs to no step.
    if (!before.files_.contains(file) || is_there(kept) || !is_there(state_ / file)) continue;
    create_folder_inside(state_, (place_in_state(step) / file).parent_path());
    link_or_copy(state_ / file, kept);
    for (auto folder = kept; folder != entry(step);) {
      folder = folder.parent_path();
      folders.insert(folder);
    }
  }
  for (const auto& folder : folders) sync_folder(folder);
}

void StateHistory::prune(const Manifest& now, int64_t most) const {
  for (const int64_t step : steps()) {
    const bool is_begun = step == now.step && now.adapting;
    const bool is_kept = step < now.step && now.step - step <= most;
    if (!has(step) || !(is_begun || is_kept)) remove(step);
  }
  if (is_own_folder(state_ / kHistoryFolder)) remove_if_empty(state_ / kHistoryFolder);
}

// Without its manifest an entry does not count.
void StateHistory::remove(int64_t step) const {
  if (!is_own_folder(state_ / kHistoryFolder)) return;
  if (is_own_folder(entry(step))) remove_file(entry(step) / kManifestFile);
  remove_folder(entry(step));
}

}  // namespace proca::state
