#include "proca/state/state_directory.h"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/path.h"
#include "core/files/read_json.h"
#include "core/files/text_checksum.h"
#include "models/weights/safetensors.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/manifest_json.h"
#include "state/state_files.h"

namespace proca::state {

namespace fs = std::filesystem;

constexpr int64_t kFirstSealed = 3;  // earlier versions have no checksum of their own

// A TorchScript module is a program. Of those only the file that a state lists, and whose checksum
// is compared, is part of it.
const std::string kOwnScript = std::string("script:") + kScriptFile;

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
  parse_manifest(folder_ / kManifestFile);
}

void StateDirectory::parse_manifest(const fs::path& path) {
  try {
    text_ = read_text_file(path);
    const auto checksum = check_json_checksum(text_);
    refuse_wrong_checksum(checksum, path.string());
    check_json_limits(text_, path.string());
    const auto json = nlohmann::json::parse(text_);
    const auto version = count_from_json(json, "format_version");
    if (version < 1 || version > kFormatVersion) {
      throw InputError(fmt::format("{}: format version {}; this program reads versions 1 to {}",
                                   path.string(), version, kFormatVersion));
    }
    if (version >= kFirstSealed && checksum == TextChecksum::kNone) {
      throw InputError(fmt::format("{}: damaged: it has no checksum", path.string()));
    }
    manifest_ = manifest_from_json(json);
    files_.clear();
    for (const auto& [name, record] : json.at("files").items()) {
      check_file_name(name);
      files_[name] = {count_from_json(record, "size"),
                      static_cast<uint32_t>(count_from_json(record, "crc32", 0xffffffff))};
    }
    const bool is_script = manifest_.model.backbone.starts_with("script:");
    if (is_script && (manifest_.model.backbone != kOwnScript || !files_.contains(kScriptFile))) {
      throw InputError(fmt::format("{}: damaged: the backbone \"{}\" is not the state's own {}",
                                   path.string(), manifest_.model.backbone, kScriptFile));
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: damaged: {}", path.string(), json_reason(error)));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: damaged: {}", path.string(), error.what()));
  }
}

// Where a file may be. A writer that was killed between its two kinds of rename leaves the new
// content in .next.
std::vector<fs::path> StateDirectory::candidates(const std::string& file) const {
  std::vector<fs::path> places = {folder_ / file, next_of(folder_ / file)};
  for (const auto& folder : earlier_) places.push_back(folder / file);
  return places;
}

void StateDirectory::map_files(const std::function<bool(const std::string&)>& wanted) {
  contents_.clear();
  for (const auto& [name, record] : files_) {
    if (!wanted(name)) continue;
    auto path = folder_ / name;  // What to name if it is none of them.
    for (const auto& candidate : candidates(name)) {
      if (!is_there(candidate)) continue;
      if (!earlier_.empty()) path = candidate;
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

}  // namespace proca::state
