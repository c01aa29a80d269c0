#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "core/files/lock_file.h"
#include "proca/state/state_directory.h"
#include "state/history/state_history.h"

namespace proca::state {

/// Writes checkpoints: either all files of one arrive or none, whenever the
/// process is killed. Holds the directory's lock for as long as it lives; a
/// second writer is refused with `InputError`.
///
/// New content goes to `NAME.next`; `commit` syncs it, replaces `state.json`,
/// which names the checksums of the new files, and only then renames
/// `NAME.next` to `NAME`. Nothing is synced before `commit`. If the process dies before
/// `state.json` is replaced the old checkpoint holds; if it dies after, opening finishes the
/// renames.
///
/// Before a file of the last finished step is replaced or removed for the first time, it is kept
/// in `StateHistory`, from which `restore` takes it back.
///
/// Example:
/// ```
/// StateWriter writer(folder);
/// writer.put_tensors("model.safetensors", network->state(), {});
/// writer.commit(manifest);
/// ```
class StateWriter {
 public:
  /// Creates the folder if needed and finishes or removes what a killed writer left.
  /// A folder that holds other files and no state is refused.
  explicit StateWriter(std::filesystem::path folder);
  /// Leaves nothing behind if there was no commit.
  ~StateWriter();
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  /// The current checkpoint: the last commit, or the one found at the beginning. Reading
  /// from it checks nothing again, as there is no other writer.
  const StateDirectory& state() const { return state_; }
  /// Names may have a folder in front, such as `steps/01/metrics.json`.
  void put_tensors(const std::string& file, const std::map<std::string, torch::Tensor>& tensors,
                   const std::map<std::string, std::string>& metadata);
  void put_text(const std::string& file, const std::string& text);
  /// Copies the content that `file_there` has in another state.
  void put_copy(const std::string& file, const StateDirectory& from, const std::string& file_there);
  /// Whether the file is part of the state after the next commit.
  bool has(const std::string& file) const { return files_.contains(file); }
  /// The file is no longer part of the state from the next commit on.
  void remove(const std::string& file);
  void commit(const Manifest& manifest);

  /// How many earlier steps the state keeps from the next finished step on; none by default.
  void keep_steps(int64_t count) { kept_steps_ = count; }
  /// What is kept of earlier steps.
  const StateHistory& history() const { return history_; }
  /// Makes the state again, file by file, what it was after an earlier step that it keeps; but
  /// the source images that it keeps stay those of now, as they belong to no step.
  /// Takes effect at once or not at all, as `commit` does.
  void restore(const StateDirectory& earlier);
  /// Makes the state, of which there is none yet, a copy of another one.
  void copy(const StateDirectory& from);

 private:
  void recover();
  void stage(const std::string& file, StateDirectory::FileRecord record);
  void sync_staged() const;
  void keep_replaced(const Manifest& next);
  std::string describe(const Manifest& manifest) const;
  void replace(const std::string& text, const Manifest& manifest);
  void remove_later_steps();
  std::filesystem::path place_for(const std::string& file) const;

  std::filesystem::path folder_;
  bool created_ = false;  // this writer created the folder
  std::unique_ptr<LockFile> lock_;
  StateHistory history_;
  int64_t kept_steps_ = 0;
  StateDirectory state_;
  std::map<std::string, StateDirectory::FileRecord> files_;
  std::vector<std::string> staged_;
  std::vector<std::string> removed_;
};

}  // namespace proca::state
