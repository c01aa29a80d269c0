#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace proca::engine {

/// The batch that a watcher is busy with, so that the next watcher goes on where it was killed:
/// `watch.json` in the state's folder, and the outcomes of all batches, `watch.jsonl`
/// (docs/formats/state_directory.md).
///
/// A batch goes through these stages. Each begins with one atomic write, so that what follows
/// happens once:
///
/// 1. `begin`: the batch is adapted to. Whether a killed watcher had finished its step is seen
///    from the state.
/// 2. `settle`: its outcome is known, and where it is to go. The line goes into the log, and the
///    batch there.
/// 3. `clear`: the next batch.
class WatchJournal {
 public:
  struct Entry {
    std::string inbox = {};
    std::string batch = {};    ///< its name; empty: none
    int64_t steps_before = 0;  ///< finished steps when it began
    int64_t failures = 0;      ///< of its step, not counting images that cannot be used
    /// The unfinished step of the state belongs to a batch that was given up.
    bool is_abandoned = false;
    std::string line = {};   ///< for the log; empty in the first stage
    std::string place = {};  ///< where the batch is to go; empty: it stays
  };

  /// Reads what an earlier watcher left. Throws `InputError` if that is damaged.
  explicit WatchJournal(const std::filesystem::path& state);

  const Entry& entry() const { return entry_; }
  void begin(const std::string& inbox, const std::string& batch, int64_t steps_before);
  void count_failure();
  void abandon_step();
  void step_is_finished();
  void settle(const std::string& line, const std::filesystem::path& place);
  /// Puts the line into the log, unless it is the last one there already.
  void log_line() const;
  void clear();

 private:
  void write() const;

  std::filesystem::path file_, log_;
  Entry entry_;
};

}  // namespace proca::engine
