#include "state/state_writer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/open_file.h"
#include "core/files/path.h"
#include "core/files/remove_folder.h"
#include "core/files/text_checksum.h"
#include "core/parallel.h"
#include "core/parse_number.h"
#include "core/tensorboard.h"
#include "models/weights/safetensors.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/event_log.h"
#include "state/manifest_json.h"
#include "state/state_files.h"

namespace proca::state {
namespace {

namespace fs = std::filesystem;

// The first epochs' curves may lie inside --out when a training is killed before its first
// checkpoint.
bool holds_only_tensorboard_files(const fs::path& path) {
  if (!is_own_folder(path)) return path.filename().string().starts_with(kTensorBoardPrefix);
  const auto entries = entries_of(path);
  return std::all_of(entries.begin(), entries.end(), holds_only_tensorboard_files);
}

// `steps/07` is of step 7; 0 for other folders.
int64_t number_of_step(const std::string& folder) { return parse_whole_number(folder).value_or(0); }

// A folder with other files is refused: they could be the user's own.
void refuse_foreign_files(const fs::path& folder) {
  for (const auto& entry : entries_of(folder)) {
    const auto name = entry.filename().string();
    const bool is_ours = is_state_file(name) && !is_watch_file(name);
    if (is_ours || holds_only_tensorboard_files(entry)) continue;
    throw InputError(fmt::format("{}: holds {}, which is not part of a state; use a new folder",
                                 folder.string(), name));
  }
}

}  // namespace

StateWriter::StateWriter(fs::path folder) : folder_(normalise_path(folder)), history_(folder_) {
  created_ = !is_there(folder_);
  create_writable_folder(folder_);
  if (!StateDirectory::exists(folder_)) refuse_foreign_files(folder_);
  lock_ = std::make_unique<LockFile>(folder_ / kLockFile);
  recover();
}

StateWriter::~StateWriter() {
  if (StateDirectory::exists(folder_)) return;
  std::error_code ignored;  // A destructor cannot report it.
  for (const auto& file : staged_) {
    fs::remove(next_of(folder_ / file), ignored);
    for (auto part = fs::path(file).parent_path(); !part.empty(); part = part.parent_path()) {
      fs::remove(folder_ / part, ignored);  // Only if it is empty, as below.
    }
  }
  for (const auto* file : {kEventsFile, kLockFile}) fs::remove(folder_ / file, ignored);
  if (created_) fs::remove(folder_, ignored);
}

void StateWriter::recover() {
  state_.folder_ = folder_;
  const bool is_state = StateDirectory::exists(folder_);
  if (is_state) {
    state_ = StateDirectory(folder_);
    files_ = state_.files_;
    for (const auto& [name, file] : state_.contents_) {
      if (file.path() != folder_ / name) rename_file(file.path(), folder_ / name);
    }
  }
  // Everything else that a killed writer left belongs to a checkpoint that was not finished.
  for (const auto& entry : entries_of(folder_)) {
    const auto name = entry.filename().string();
    if (!is_state_file(name) || is_watch_file(name) || is_folder(entry)) continue;
    const bool outlived = is_state && !files_.contains(name) && name != kManifestFile &&
                          name != kLockFile && name != kEventsFile;
    if (is_leftover(name) || outlived) remove_file(entry);
  }
  if (is_state) {
    remove_later_steps();
    history_.prune(state_.manifest_);
  }
  if (!is_own_folder(folder_ / kStepsFolder)) return;
  for (const auto& step : entries_of(folder_ / kStepsFolder)) {
    if (!is_own_folder(step)) continue;
    for (const auto& entry : entries_of(step)) {
      if (is_leftover(entry.filename().string())) remove_file(entry);
    }
  }
}

// What is left of steps that were taken back: records, and lines of the event log.
void StateWriter::remove_later_steps() {
  const auto& manifest = state_.manifest_;
  const auto events = folder_ / kEventsFile;
  std::error_code none;
  if (manifest.events_bytes == 0) {
    remove_file(events);
  } else if (fs::file_size(events, none) > static_cast<uint64_t>(manifest.events_bytes) && !none) {
    const EventLog shortened(events, manifest.events_bytes, manifest.events_crc);
  }
  if (!is_own_folder(folder_ / kStepsFolder)) return;
  for (const auto& step : entries_of(folder_ / kStepsFolder)) {
    if (!is_own_folder(step) || number_of_step(step.filename().string()) <= manifest.step) continue;
    for (const auto& entry : entries_of(step)) {
      const auto name = entry.lexically_relative(folder_).string();
      if (!is_folder(entry) && !files_.contains(name)) remove_file(entry);
    }
    remove_if_empty(step);
  }
  remove_if_empty(folder_ / kStepsFolder);
}

fs::path StateWriter::place_for(const std::string& file) const {
  const auto path = folder_ / file;
  const auto inside = fs::path(file).parent_path();
  if (!inside.empty()) create_folder_inside(folder_, inside);
  return next_of(path);
}

void StateWriter::stage(const std::string& file, StateDirectory::FileRecord record) {
  files_[file] = record;
  std::erase(staged_, file);
  staged_.push_back(file);
  std::erase(removed_, file);
}

void StateWriter::put_tensors(const std::string& file,
                              const std::map<std::string, torch::Tensor>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  const auto next = place_for(file);
  models::write_safetensors(next, tensors, metadata, Sync::kLater);
  const MappedFile content(next);
  stage(file, {static_cast<int64_t>(content.bytes().size()), crc32(content.bytes())});
}

void StateWriter::put_text(const std::string& file, const std::string& text) {
  write_file(place_for(file), text, Sync::kLater);
  stage(file, {static_cast<int64_t>(text.size()), crc32(bytes_of(text))});
}

void StateWriter::put_copy(const std::string& file, const StateDirectory& from,
                           const std::string& file_there) {
  AtomicFile copy(place_for(file));
  copy.write(from.content(file_there).bytes());
  copy.commit(Sync::kLater);
  stage(file, from.files_.at(file_there));
}

void StateWriter::remove(const std::string& file) {
  if (files_.erase(file) == 0) return;
  removed_.push_back(file);
  if (std::erase(staged_, file) > 0) remove_file(next_of(folder_ / file));
}

void StateWriter::sync_staged() const {
  // All files that the new state.json names must be on disk before it is. Syncing them at
  // once is faster than one after the other.
  constexpr int64_t kMostThreads = 8;
  parallel_for(static_cast<int64_t>(staged_.size()), kMostThreads, [this](int64_t i) {
    sync_file(next_of(folder_ / staged_[static_cast<size_t>(i)]));
  });
  std::set<fs::path> folders;
  for (const auto& file : staged_) {
    folders.insert(folder_);
    // A new folder is a name in the one above.
    for (auto part = fs::path(file).parent_path(); part.has_relative_path();
         part = part.parent_path()) {
      folders.insert(folder_ / part);
    }
  }
  for (const auto& folder : folders) sync_folder(folder);
}

// A step begins with the first commit after a finished one, which may be a checkpoint. Whatever
// it replaces until it is finished was part of the state before it.
void StateWriter::keep_replaced(const Manifest& next) {
  const auto& now = state_.manifest_;
  const bool is_of_a_step = next.adapting.has_value() || next.step > now.step;
  if (kept_steps_ == 0 || now.phase != Phase::kReady || !is_of_a_step) return;
  if (!now.adapting) history_.begin(now.step);
  auto replaced = staged_;
  replaced.insert(replaced.end(), removed_.begin(), removed_.end());
  history_.keep(now.step, replaced);
}

// Makes `text` the manifest. Then the state has changed; the rest `recover` can do as well.
void StateWriter::replace(const std::string& text, const Manifest& manifest) {
  write_file(folder_ / kManifestFile, text);
  for (const auto& file : staged_) {
    rename_file(next_of(folder_ / file), folder_ / file);
    state_.contents_.insert_or_assign(file, MappedFile(folder_ / file));
  }
  for (const auto& file : removed_) {
    remove_file(folder_ / file);
    state_.contents_.erase(file);
  }
  state_.files_ = files_;
  state_.text_ = text;
  state_.manifest_ = manifest;
  staged_.clear();
  removed_.clear();
}

// `state.json` with the files that the state has from now on.
std::string StateWriter::describe(const Manifest& manifest) const {
  auto json = nlohmann::ordered_json{{"format_version", kFormatVersion}};
  json.update(to_json(manifest));
  json["files"] = nlohmann::ordered_json::object();
  for (const auto& [name, record] : files_) {
    json["files"][name] = {{"size", record.size}, {"crc32", record.crc}};
  }
  return append_json_checksum(json.dump(2));
}

void StateWriter::commit(const Manifest& manifest) {
  sync_staged();
  keep_replaced(manifest);
  const bool ends_step = manifest.step != state_.manifest_.step;
  replace(describe(manifest), manifest);
  if (ends_step) history_.prune(manifest, kept_steps_);
}

// The kept source images belong to the source model, not to a step: those of now stay.
void StateWriter::restore(const StateDirectory& earlier) {
  for (const auto& [name, file] : earlier.contents_) {
    if (name == kKeptSourceFile || file.path() == folder_ / name) continue;
    link_or_copy(file.path(), place_for(name));
    stage(name, earlier.files_.at(name));
  }
  for (const auto& [name, record] : state_.files_) {
    if (name != kKeptSourceFile && !earlier.files_.contains(name)) remove(name);
  }
  const auto now = state_.files_.find(kKeptSourceFile);
  const auto then = earlier.files_.find(kKeptSourceFile);
  const bool has = now != state_.files_.end(), had = then != earlier.files_.end();
  const bool is_same =
      has == had &&
      (!has || (now->second.size == then->second.size && now->second.crc == then->second.crc));
  sync_staged();
  replace(is_same ? earlier.text_ : describe(earlier.manifest_), earlier.manifest_);
  remove_later_steps();
  history_.prune(state_.manifest_);
}

void StateWriter::copy(const StateDirectory& from) {
  for (const auto& [name, record] : from.files_) put_copy(name, from, name);
  const auto events = from.folder_ / kEventsFile;
  if (from.manifest_.events_bytes > 0 && is_there(events)) {
    const MappedFile file(events);
    const auto size =
        std::min(file.bytes().size(), static_cast<size_t>(from.manifest_.events_bytes));
    AtomicFile copy(folder_ / kEventsFile);
    copy.write(file.bytes().first(size));
    copy.commit();
  }
  sync_staged();
  replace(from.text_, from.manifest_);
}

}  // namespace proca::state
