#include "state/state_writer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/path.h"
#include "core/files/text_checksum.h"
#include "core/parallel.h"
#include "models/weights/safetensors.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/manifest_json.h"
#include "state/state_files.h"

namespace proca::state {
namespace {

namespace fs = std::filesystem;

// Left by a writer that was killed: a file that is staged or half-written.
bool is_leftover(const std::string& name) {
  return name.ends_with(".next") || name.find(".tmp-") != std::string::npos;
}

bool is_ours(std::string name) {
  static const std::set<std::string> names = {
      kManifestFile,      kLockFile,      kEventsFile,   kConfigFile,  kModelFile,
      kSourceFile,        kOptimizerFile, kScriptFile,   kCentresFile, kMemoryFile,
      kMethodFile,        kAdaptFile,     kTrainingFile, kStepsFolder, kTrainingMemoryFile,
      kTrainingAdaptFile, kKeptSourceFile};
  name = name.substr(0, name.find(".tmp-"));
  if (name.ends_with(".next")) name.resize(name.size() - 5);
  return names.contains(name);
}

// A folder with other files is refused: they could be the user's own.
void refuse_foreign_files(const fs::path& folder) {
  for (const auto& entry : entries_of(folder)) {
    const auto name = entry.filename().string();
    if (is_ours(name)) continue;
    throw InputError(fmt::format("{}: holds {}, which is not part of a state; use a new folder",
                                 folder.string(), name));
  }
}

}  // namespace

StateWriter::StateWriter(fs::path folder) : folder_(normalise_path(folder)) {
  created_ = !is_there(folder_);
  create_writable_folder(folder_);
  if (!StateDirectory::exists(folder_)) refuse_foreign_files(folder_);
  lock_ = std::make_unique<LockFile>(folder_ / kLockFile);
  recover();
}

StateWriter::~StateWriter() {
  if (StateDirectory::exists(folder_)) return;
  std::error_code ignored;  // A destructor cannot report it.
  for (const auto& file : staged_) fs::remove(next_of(folder_ / file), ignored);
  for (const auto* file : {kEventsFile, kLockFile}) fs::remove(folder_ / file, ignored);
  if (created_) fs::remove(folder_, ignored);  // Only if it is empty.
}

void StateWriter::recover() {
  state_.folder_ = folder_;
  if (StateDirectory::exists(folder_)) {
    state_ = StateDirectory(folder_);
    files_ = state_.files_;
    for (const auto& [name, file] : state_.contents_) {
      if (file.path() != folder_ / name) rename_file(file.path(), folder_ / name);
    }
  }
  // Everything else that a killed writer left belongs to a checkpoint that was not finished.
  for (const auto& entry : entries_of(folder_)) {
    const auto name = entry.filename().string();
    if (!is_ours(name) || is_folder(entry)) continue;
    const bool outlived = StateDirectory::exists(folder_) && !files_.contains(name) &&
                          name != kManifestFile && name != kLockFile && name != kEventsFile;
    if (is_leftover(name) || outlived) remove_file(entry);
  }
  if (!is_there(folder_ / kStepsFolder)) return;
  for (const auto& step : entries_of(folder_ / kStepsFolder)) {
    if (!is_folder(step)) continue;
    for (const auto& entry : entries_of(step)) {
      if (is_leftover(entry.filename().string())) remove_file(entry);
    }
  }
}

fs::path StateWriter::place_for(const std::string& file) const {
  const auto path = folder_ / file;
  if (fs::path(file).has_parent_path()) create_writable_folder(path.parent_path());
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

void StateWriter::commit(const Manifest& manifest) {
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
  auto json = nlohmann::ordered_json{{"format_version", kFormatVersion}};
  json.update(to_json(manifest));
  json["files"] = nlohmann::ordered_json::object();
  for (const auto& [name, record] : files_) {
    json["files"][name] = {{"size", record.size}, {"crc32", record.crc}};
  }
  write_file(folder_ / kManifestFile, append_json_checksum(json.dump(2)));
  for (const auto& file : staged_) {
    rename_file(next_of(folder_ / file), folder_ / file);
    state_.contents_.insert_or_assign(file, MappedFile(folder_ / file));
  }
  for (const auto& file : removed_) {
    remove_file(folder_ / file);
    state_.contents_.erase(file);
  }
  state_.files_ = files_;
  state_.manifest_ = manifest;
  staged_.clear();
  removed_.clear();
}

}  // namespace proca::state
