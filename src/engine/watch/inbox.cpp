#include "engine/watch/inbox.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/files/path.h"
#include "core/files/remove_folder.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
using state::is_folder;
using state::is_there;

constexpr const char* kGathering = ".proca-gathering";
constexpr const char* kTrash = ".proca-trash";

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Everything below a folder, and the folder.
std::vector<fs::path> all_below(const fs::path& folder) {
  std::vector<fs::path> paths = {folder};
  std::error_code vanished;
  for (fs::recursive_directory_iterator entry(folder, vanished), end; !vanished && entry != end;
       entry.increment(vanished)) {
    paths.push_back(entry->path());
  }
  return paths;
}

// Temporary files of a transfer are hidden and no images, so what counts is not.
int64_t count_files(const std::vector<fs::path>& paths) {
  return std::count_if(paths.begin(), paths.end(), [](const auto& path) {
    return !is_hidden(path) && is_there(path) && !is_folder(path);
  });
}

// Unlike the time of modification, nobody can set that of the last change.
std::chrono::system_clock::time_point last_change(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::chrono::system_clock::time_point::max();
  return std::chrono::system_clock::time_point(
      std::chrono::seconds(status.st_ctim.tv_sec) +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::nanoseconds(status.st_ctim.tv_nsec)));
}

// Or is the folder.
bool is_below(const fs::path& path, const fs::path& folder) {
  std::error_code none;
  const auto relative =
      fs::weakly_canonical(path, none).lexically_relative(fs::weakly_canonical(folder, none));
  return !relative.empty() && *relative.begin() != "..";
}

dev_t device_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
}

// `wanted`, or `wanted-2` and so on.
fs::path unused(const fs::path& wanted) {
  auto path = wanted;
  for (int64_t number = 2; is_there(path); ++number) {
    path = fmt::format("{}-{}", wanted.string(), number);
  }
  return path;
}

}  // namespace

void WatchOptions::validate() const {
  if (after == AfterStep::kUnsaid) {
    throw InvalidOption(
        "what becomes of a batch after its step? give --done FOLDER, --keep or --delete");
  }
  if (marker.empty() || marker == "." || marker == ".." || marker.find('/') != marker.npos) {
    throw InvalidOption(fmt::format("--marker: \"{}\" is not the name of a file", marker));
  }
  if (min_images > 1 && quiet_for_s == 0) {
    throw InvalidOption("--min-images: only goes with --quiet-for");
  }
}

// Paths are absolute, as the journal keeps them for a watcher that is started elsewhere.
Inbox::Inbox(const WatchOptions& options, const WatchClock& clock)
    : folder_(fs::absolute(normalise_path(options.inbox))), options_(options), clock_(clock) {
  if (!is_folder(folder_)) {
    throw InputError(fmt::format("{}: there is no such folder to watch", folder_.string()));
  }
  create_writable_folder(folder_);
  if (is_below(options_.state, folder_)) {
    throw InputError(fmt::format("{}: the state lies in the inbox {}; move it elsewhere",
                                 options_.state.string(), folder_.string()));
  }
  if (options_.after == AfterStep::kMove) check_done();
}

void Inbox::check_done() {
  options_.done = fs::absolute(normalise_path(options_.done));
  if (is_below(options_.done, options_.state)) {
    throw InputError(fmt::format("{}: is the state, or lies in it; --done must be another folder",
                                 options_.done.string()));
  }
  create_writable_folder(options_.done);
  // Only within one file system does a batch move at once.
  if (device_of(options_.done) != device_of(folder_)) {
    throw InputError(
        fmt::format("{}: is on another file system than {}; --done must be on the "
                    "same",
                    options_.done.string(), folder_.string()));
  }
  std::error_code none;
  if (is_below(options_.done, folder_) &&
      !fs::equivalent(options_.done.parent_path(), folder_, none)) {
    throw InputError(
        fmt::format("{}: is the inbox itself, or in a batch; --done must be another "
                    "folder",
                    options_.done.string()));
  }
}

bool Inbox::is_batch_folder(const fs::path& path) const {
  std::error_code none;
  return is_folder(path) && !is_hidden(path) && path.filename() != kFailed &&
         !(options_.after == AfterStep::kMove && fs::equivalent(path, options_.done, none)) &&
         !is_there(path / kDoneMark);
}

bool Inbox::is_quiet(const std::vector<fs::path>& paths) const {
  const auto quiet = std::chrono::duration<double>(options_.quiet_for_s);
  const auto now = clock_.now();
  return std::all_of(paths.begin(), paths.end(), [&](const auto& path) {
    const auto changed = last_change(path);
    return changed <= now && now - changed >= quiet;
  });
}

bool Inbox::is_complete(const fs::path& batch) const {
  if (is_there(batch / options_.marker)) return true;
  if (options_.quiet_for_s == 0) return false;
  const auto paths = all_below(batch);
  return count_files(paths) >= options_.min_images && is_quiet(paths);
}

std::vector<std::string> Inbox::complete() {
  if (options_.quiet_for_s > 0 || is_there(folder_ / kGathering)) gather_loose();
  std::vector<std::string> names;
  for (const auto& path : entries_of(folder_)) {
    if (is_batch_folder(path) && is_complete(path)) names.push_back(path.filename().string());
  }
  return names;
}

void Inbox::gather_loose() {
  const auto gathering = folder_ / kGathering;
  std::vector<fs::path> loose, gathered;
  for (const auto& path : entries_of(folder_)) {
    const bool is_loose = !is_hidden(path) && is_there(path) && !is_folder(path);
    if (is_loose && options_.quiet_for_s > 0) loose.push_back(path);
  }
  if (is_folder(gathering)) gathered = entries_of(gathering);
  // What a kill left there was complete; what has come since waits like the rest.
  const auto total = loose.size() + gathered.size();
  if (total == 0 || total < static_cast<size_t>(options_.min_images) || !is_quiet(loose)) return;
  create_writable_folder(gathering);
  for (const auto& path : loose) rename_file(path, unused(gathering / path.filename()));
  write_file(gathering / options_.marker, "");
  sync_folder(gathering);
  rename_file(gathering, folder_ / unused_name("loose"));
  sync_folder(folder_);
}

// `loose-1` and so on: a number that no batch has or had, as far as can be seen.
std::string Inbox::unused_name(const std::string& name) const {
  for (int64_t number = 1;; ++number) {
    const auto numbered = fmt::format("{}-{}", name, number);
    const bool is_used = has(numbered) || is_there(folder_ / kFailed / numbered) ||
                         (options_.after == AfterStep::kMove && is_there(options_.done / numbered));
    if (!is_used) return numbered;
  }
}

bool Inbox::has(const std::string& batch) const { return is_folder(path(batch)); }

fs::path Inbox::place_after(const std::string& batch) const {
  switch (options_.after) {
    case AfterStep::kMove:
      return unused(options_.done / batch);
    case AfterStep::kDelete:
      return unused(folder_ / kTrash / batch);
    case AfterStep::kKeep:
    case AfterStep::kUnsaid:
      break;
  }
  return {};
}

fs::path Inbox::place_aside(const std::string& batch) const {
  return unused(folder_ / kFailed / batch);
}

void Inbox::move(const std::string& batch, const fs::path& place) const {
  if (is_there(place) || !has(batch)) return;
  create_writable_folder(place.parent_path());
  rename_file(path(batch), place);
  sync_folder(place.parent_path());
  sync_folder(folder_);
}

void Inbox::mark_done(const std::string& batch, const std::string& note) const {
  if (has(batch)) write_file(path(batch) / kDoneMark, note);
}

void Inbox::empty_trash() const { remove_folder(folder_ / kTrash); }

}  // namespace proca::engine
