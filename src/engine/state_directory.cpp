#include "proca/engine/state_directory.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "manifest_json.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/json_limits.h"
#include "proca/core/parallel.h"
#include "proca/core/path.h"
#include "proca/core/seal.h"
#include "proca/models/safetensors.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFormatVersion = 3;
constexpr int64_t kFirstSealed = 3;  // versions before have no checksum of their own
constexpr const char* kManifestFile = "state.json";

fs::path next_of(const fs::path& path) { return path.string() + ".next"; }

// The overloads that throw speak of "filesystem error", not of the user's folder.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Left by a writer that was killed: a file of ours, staged or half-written.
bool is_leftover(const std::string& name) {
  return name.ends_with(".next") || name.find(".tmp-") != std::string::npos;
}

bool is_ours(std::string name) {
  static const std::set<std::string> names = {kManifestFile,
                                              "lock",
                                              "events.jsonl",
                                              "config.toml",
                                              "model.safetensors",
                                              "source.safetensors",
                                              "backbone.pt",
                                              "optimizer.safetensors",
                                              "adapt.toml",
                                              "centres.safetensors",
                                              "memory.safetensors",
                                              "method.safetensors",
                                              "training.toml",
                                              "training.safetensors",
                                              "steps",
                                              "training_memory.safetensors"};
  name = name.substr(0, name.find(".tmp-"));
  if (name.ends_with(".next")) name.resize(name.size() - 5);
  return names.contains(name);
}

// A folder with anything else in it is somebody's: better refused than tidied up.
void refuse_foreign_files(const fs::path& folder) {
  for (const auto& entry : entries_of(folder)) {
    const auto name = entry.filename().string();
    if (is_ours(name)) continue;
    throw InputError(fmt::format("{}: holds {}, which is no part of a state; use a new folder",
                                 folder.string(), name));
  }
}

}  // namespace

bool StateDirectory::exists(const fs::path& folder) { return is_there(folder / kManifestFile); }

Manifest StateDirectory::read_manifest(const fs::path& folder) {
  StateDirectory state;
  state.folder_ = normalise_path(folder);
  state.load_manifest();
  return state.manifest_;
}

StateDirectory::StateDirectory(fs::path folder)
    : StateDirectory(std::move(folder), [](const std::string&) { return true; }) {}

StateDirectory::StateDirectory(fs::path folder,
                               const std::function<bool(const std::string&)>& wanted)
    : folder_(normalise_path(folder)) {
  // A writer may replace files while we map them; a fresh manifest then names the new ones.
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    load_manifest();
    try {
      map_files(wanted);
      return;
    } catch (const InputError&) {
      if (attempt == kAttempts) throw;
    }
  }
}

void StateDirectory::load_manifest() {
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) {
    throw InputError(fmt::format("{}: no such state directory", folder_.string()));
  }
  if (!exists(folder_)) {
    throw InputError(
        fmt::format("{}: is not a state directory: it has no {}", folder_.string(), kManifestFile));
  }
  const auto path = folder_ / kManifestFile;
  try {
    const auto text = read_text_file(path);
    const auto seal = check_json_seal(text);
    refuse_broken_seal(seal, path.string());
    check_json_limits(text, path.string());
    const auto json = nlohmann::json::parse(text);
    const auto version = count_from_json(json, "format_version");
    if (version < 1 || version > kFormatVersion) {
      throw InputError(fmt::format("{}: format version {}; this program reads versions 1 to {}",
                                   path.string(), version, kFormatVersion));
    }
    if (version >= kFirstSealed && seal == Seal::kNone) {
      throw InputError(fmt::format("{}: damaged: it has no checksum", path.string()));
    }
    manifest_ = manifest_from_json(json);
    files_.clear();
    for (const auto& [name, record] : json.at("files").items()) {
      check_file_name(name);
      files_[name] = {count_from_json(record, "size"),
                      static_cast<uint32_t>(count_from_json(record, "crc32", 0xffffffff))};
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: damaged: {}", path.string(), error.what()));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: damaged: {}", path.string(), error.what()));
  }
}

void StateDirectory::map_files(const std::function<bool(const std::string&)>& wanted) {
  contents_.clear();
  for (const auto& [name, record] : files_) {
    if (!wanted(name)) continue;
    const auto path = folder_ / name;
    // A writer that was killed between its two kinds of rename leaves the new content in .next.
    for (const auto& candidate : {path, next_of(path)}) {
      if (!is_there(candidate)) continue;
      MappedFile file(candidate);
      if (static_cast<int64_t>(file.bytes().size()) != record.size ||
          crc32(file.bytes()) != record.crc) {
        continue;
      }
      contents_.emplace(name, std::move(file));
      break;
    }
    if (!contents_.contains(name)) {
      throw InputError(
          fmt::format("{}: is missing or damaged: size and checksum are not those in {}",
                      path.string(), kManifestFile));
    }
  }
}

const MappedFile& StateDirectory::content(const std::string& file) const {
  const auto found = contents_.find(file);
  if (found == contents_.end()) {
    throw InputError(fmt::format("{}: is not part of this state", (folder_ / file).string()));
  }
  return found->second;
}

models::WeightFile StateDirectory::read_tensors(const std::string& file) const {
  return models::decode_safetensors(content(file).bytes(), (folder_ / file).string());
}

std::string StateDirectory::read_text(const std::string& file) const {
  const auto bytes = content(file).bytes();
  return {bytes.begin(), bytes.end()};
}

std::string StateDirectory::fingerprint(const std::string& file) const {
  content(file);  // Throws if there is none.
  const auto& record = files_.at(file);
  return fmt::format("{} bytes, crc32 {:08x}", record.size, record.crc);
}

StateWriter::StateWriter(fs::path folder) : folder_(normalise_path(folder)) {
  created_ = !is_there(folder_);
  create_writable_folder(folder_);
  if (!StateDirectory::exists(folder_)) refuse_foreign_files(folder_);
  lock_ = std::make_unique<LockFile>(folder_ / "lock");
  recover();
}

StateWriter::~StateWriter() {
  if (StateDirectory::exists(folder_)) return;
  std::error_code ignored;  // A destructor has nobody to tell.
  for (const auto& file : staged_) fs::remove(next_of(folder_ / file), ignored);
  for (const auto* file : {"events.jsonl", "lock"}) fs::remove(folder_ / file, ignored);
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
  // Whatever else a killed writer left belongs to a checkpoint that never was.
  for (const auto& entry : entries_of(folder_)) {
    const auto name = entry.filename().string();
    if (!is_ours(name) || is_folder(entry)) continue;
    const bool outlived = StateDirectory::exists(folder_) && !files_.contains(name) &&
                          name != kManifestFile && name != "lock" && name != "events.jsonl";
    if (is_leftover(name) || outlived) remove_file(entry);
  }
  if (!is_there(folder_ / "steps")) return;
  for (const auto& step : entries_of(folder_ / "steps")) {
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
  // All that the new state.json names has to be on the disk before it is. A disk does many
  // files at once faster than one after the other.
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
  write_file(folder_ / kManifestFile, seal_json(json.dump(2)));
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

}  // namespace proca::engine
