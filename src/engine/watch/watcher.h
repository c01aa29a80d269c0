#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "core/files/lock_file.h"
#include "engine/watch/inbox.h"
#include "engine/watch/watch_journal.h"
#include "engine/watch/watch_options.h"
#include "proca/engine/adapter.h"

namespace proca::engine {

/// What a watcher calls.
struct WatchCalls {
  /// One step on the images of a folder, as `Adapter::adapt`.
  std::function<StepOutcome(const std::filesystem::path& batch, SameImages, Unfinished)> adapt;
  /// Why a folder can never be adapted to; nothing if it can (`batch_problem`).
  std::function<std::optional<std::string>(const std::filesystem::path& batch)> problem_of;
  /// After each batch that is done with.
  std::function<void()> after_batch = [] {};
};

/// Takes a state through one step after the other, as batches of images become complete in an
/// inbox, until it is stopped (docs/guide/days.md).
///
/// Whatever ends the process, the next watcher goes on such that each batch is adapted to once
/// and logged once (`WatchJournal`). A batch whose images cannot be used, or whose step has
/// failed three times, is put aside. What else goes wrong ends the watcher, with the batch in
/// its place.
class Watcher {
 public:
  /// Locks state and inbox against other watchers; the state itself only during a step.
  Watcher(WatchOptions options, WatchCalls calls, WatchClock clock = {});

  /// Returns with `once`; else only by an exception, `Interrupted` on Ctrl-C or SIGTERM.
  void run();

 private:
  void take_up_journal();
  void look();
  bool process(const std::string& batch);
  void adapt_to(const std::string& batch);
  void abandon_unfinished_step();
  void give_up(const std::string& batch, const std::string& why);
  void settle(nlohmann::ordered_json line, const std::filesystem::path& place);
  void finish_settled();

  WatchOptions options_;
  WatchCalls calls_;
  WatchClock clock_;
  std::string inbox_path_;  // as the journal has it
  LockFile state_lock_;
  Inbox inbox_;
  LockFile inbox_lock_;
  WatchJournal journal_;
  bool is_waiting_ = false;  // for another process, which has been said
};

}  // namespace proca::engine
