#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/watch/watch_options.h"

namespace proca::engine {

/// The folder in which batches arrive, one sub-folder each. Hidden sub-folders, `failed/` and
/// the folder for those that are done are none.
///
/// Loose images that are complete become a sub-folder `loose-N` first. They are moved to a hidden
/// one, which gets its marker and its name when all are in it: killed in between, the rest follow.
class Inbox {
 public:
  static constexpr const char* kDoneMark = ".proca-done";
  static constexpr const char* kFailed = "failed";

  /// Throws `InputError` if a folder cannot be used.
  Inbox(const WatchOptions& options, const WatchClock& clock);

  /// The names of the batches that are complete now, in alphabetical order.
  std::vector<std::string> complete();
  std::filesystem::path path(const std::string& batch) const { return folder_ / batch; }
  bool has(const std::string& batch) const;

  /// Where a batch is to go after its step; empty if it stays.
  std::filesystem::path place_after(const std::string& batch) const;
  /// Where one that cannot be adapted to is to go.
  std::filesystem::path place_aside(const std::string& batch) const;
  /// Moves it there, which is one of these. May be repeated after a kill.
  void move(const std::string& batch, const std::filesystem::path& place) const;
  /// Marks it as done where it is; `note` says what came of it.
  void mark_done(const std::string& batch, const std::string& note) const;
  /// Deletes what was moved away to be deleted.
  void empty_trash() const;

 private:
  void check_done();
  bool is_batch_folder(const std::filesystem::path& path) const;
  bool is_complete(const std::filesystem::path& batch) const;
  bool is_quiet(const std::vector<std::filesystem::path>& paths) const;
  void gather_loose();
  std::string unused_name(const std::string& name) const;

  std::filesystem::path folder_;
  WatchOptions options_;
  WatchClock clock_;
};

}  // namespace proca::engine
