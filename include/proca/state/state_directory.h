#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proca/core/file.h"
#include "proca/data/preprocessing.h"
#include "proca/models/backbone.h"
#include "proca/models/weight_file.h"

namespace proca::state {

/// What is needed to build a model before its weights are loaded.
struct ModelDescription {
  std::string backbone = "resnet50";  ///< a name `models::make_backbone` knows
  models::StrideIn stride_in = models::StrideIn::k3x3;
  /// Of the current model, in the words of `models::Neck`; the source model has none.
  std::string neck;
  std::vector<std::string> class_names;
  data::Preprocessing preprocessing;
};

/// Progress of a state.
enum class Phase {
  kPretraining,  ///< source training is under way
  kReady,        ///< the source model is there; `step` time steps have been adapted to
};

/// `state.json` without the list of files, which the directory keeps itself.
struct Manifest {
  Phase phase = Phase::kPretraining;
  int64_t epoch = 0;  ///< finished epochs of the training under way
  int64_t step = 0;   ///< finished time steps
  ModelDescription model;
  std::string source;       ///< absolute path of the source images
  std::string source_root;  ///< `--root` for a source list; may be empty
  /// The same paths from the state's folder on, if they lie near it: then they are found after
  /// both have been moved together. Else empty.
  std::string source_from_state, source_root_from_state;
  /// Sizes and times of the source's files when training began, as a checksum: while they are the
  /// same, so are the pixels. Empty if unknown.
  std::string source_files;
  std::string config_digest;           ///< of the options that decide the result
  int64_t events_bytes = 0;            ///< length of `events.jsonl` at this checkpoint
  std::optional<uint32_t> events_crc;  ///< CRC-32 of these bytes; states before version 3 have none

  std::string method;                    ///< of adaptation; empty before the first step
  std::vector<int64_t> adapted_classes;  ///< labels given to images in any finished step, ascending
  std::string step_digest;               ///< of the options and images of the last finished step
  /// Progress of the step under way.
  struct StepProgress {
    int64_t epoch = 0;      ///< finished epochs
    int64_t iteration = 0;  ///< finished iterations of the next one
    std::string digest;     ///< of its options and images
  };
  std::optional<StepProgress> adapting;
};

/// A folder that carries everything from one command to the next. The files and
/// `state.json` are described in `docs/formats/state_directory.md`.
///
/// A reader sees one complete checkpoint, even while another process writes the
/// next: opening maps every file and checks its size and checksum, so that later
/// reads are of exactly that content.
class StateDirectory {
 public:
  /// Whether `folder` holds a state.
  static bool exists(const std::filesystem::path& folder);
  /// Reads `state.json` alone. Throws as opening does.
  static Manifest read_manifest(const std::filesystem::path& folder);
  /// Throws `InputError` naming the file that is missing or damaged.
  explicit StateDirectory(std::filesystem::path folder);
  /// Opens only files whose names `wanted` accepts; reading another one is an error.
  StateDirectory(std::filesystem::path folder,
                 const std::function<bool(const std::string& file)>& wanted);

  const std::filesystem::path& folder() const { return folder_; }
  const Manifest& manifest() const { return manifest_; }
  bool has(const std::string& file) const { return files_.contains(file); }
  models::WeightFile read_tensors(const std::string& file) const;
  std::string read_text(const std::string& file) const;
  /// Identifies the content of a file: `102540 bytes, crc32 1f0c2a9b`.
  std::string fingerprint(const std::string& file) const;

 private:
  struct FileRecord {
    int64_t size = 0;
    uint32_t crc = 0;
  };
  friend class StateHistory;
  friend class StateWriter;
  StateDirectory() = default;
  void load_manifest();
  void parse_manifest(const std::filesystem::path& place);
  void map_files(const std::function<bool(const std::string&)>& wanted);
  std::vector<std::filesystem::path> candidates(const std::string& file) const;
  const MappedFile& content(const std::string& file) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> earlier_;  // of an earlier step: where replaced files are
  std::string text_;                            // of `state.json`
  Manifest manifest_;
  std::map<std::string, FileRecord> files_;
  std::map<std::string, MappedFile> contents_;
};

}  // namespace proca::state
