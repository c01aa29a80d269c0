#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proca/state/state_directory.h"

namespace proca::state {

/// What a state keeps of earlier steps, so that they can be taken back and their models used.
/// `history/NN/` belongs to the checkpoint after step NN. It has that checkpoint's `state.json`,
/// and those of its files that later steps have replaced or removed; all others are in later
/// entries or in the state itself (docs/formats/state_directory.md).
///
/// As a state's files are never changed in place, an entry costs a link per file. A step that
/// is under way has begun the entry of the step before it, which counts once it is finished.
class StateHistory {
 public:
  struct Kept {
    int64_t step = 0;
    int64_t bytes = 0;  ///< that only this entry needs
  };

  explicit StateHistory(std::filesystem::path state) : state_(std::move(state)) {}

  /// The steps before that of `now`, the current checkpoint, of which every file is there,
  /// ascending. Contents are not checked. Kept source images belong to no step: they may have
  /// been replaced.
  std::vector<Kept> kept(const StateDirectory& now) const;
  /// The checkpoint after an earlier step, with its files checked, all but the kept source
  /// images. Throws `InputError` naming what is missing or damaged.
  StateDirectory open(int64_t step) const;
  bool has(int64_t step) const;
  /// How many steps a state has gone on from the checkpoint of another one that it was copied
  /// from; nothing if it was not, or that cannot be told any more.
  std::optional<int64_t> steps_since(const StateDirectory& other) const;

  // For the writer of the state.

  /// Begins the entry of a step with the current `state.json`.
  void begin(int64_t step) const;
  /// Keeps those of `files` that belong to the checkpoint of a step that has been begun, unless
  /// they are kept already. Without an entry nothing is done: then an earlier version of this
  /// program began the step.
  void keep(int64_t step, const std::vector<std::string>& files) const;
  /// Removes entries that are unfinished, of later steps, or further back than `most` steps.
  void prune(const Manifest& now, int64_t most = std::numeric_limits<int64_t>::max()) const;

 private:
  std::filesystem::path entry(int64_t step) const;
  std::vector<int64_t> steps() const;
  StateDirectory read(int64_t step) const;
  void remove(int64_t step) const;

  std::filesystem::path state_;
};

/// Gives a file a second name, or copies it where the file system cannot do that.
void link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace proca::state
