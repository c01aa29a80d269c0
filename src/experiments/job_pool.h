#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace proca::experiments {

/// A command to run in a process of its own.
struct Job {
  std::string label;                 ///< for messages
  std::vector<std::string> command;  ///< path of the program, then its arguments
  /// Where its standard output and standard error go; a file of an earlier try is
  /// replaced. Folders in front of it are made.
  std::filesystem::path log;
};

/// A place where one job runs at a time, such as a GPU.
struct JobSlot {
  std::vector<std::string> arguments = {};  ///< put after those of the job
};

/// How a job ended.
struct JobEnd {
  int64_t job = 0;  ///< index
  /// Of the process; as in a shell 128 + n if signal n ended it, and 127 if it could not be
  /// started.
  int64_t exit_code = 0;
  double seconds = 0;
};

/// Callbacks while jobs run; both may be empty. Called from the thread of `run_jobs`.
struct JobListener {
  std::function<void(const JobEnd&)> on_end = {};
  std::function<void()> on_wait = {};  ///< several times a second
};

/// Runs jobs in their order, one per slot at a time, and returns how each ended; those
/// that were never started have no entry.
///
/// After a job that failed none is started any more, but those that are running finish.
/// Ctrl-C (`catch_interrupts`) is passed on to the jobs; once all have ended,
/// `Interrupted` is thrown. Jobs are not in the terminal's foreground, so that they get
/// one signal and not two, and read nothing from it. They do not outlive the thread
/// that runs them, not even if it is killed.
///
/// Throws `InputError` when a log cannot be written, before that job starts.
///
/// Example:
/// ```
/// const std::vector<Job> jobs = {{"hello", {"/bin/echo", "hello"}, "hello.log"}};
/// const auto ends = run_jobs(jobs, std::vector<JobSlot>(2));  // two at a time
/// ends[0]->exit_code;                                         // 0
/// ```
std::vector<std::optional<JobEnd>> run_jobs(std::span<const Job> jobs,
                                            std::span<const JobSlot> slots,
                                            const JobListener& listener = {});

/// The last line of a log that is not blank; a line that a progress bar has drawn over
/// counts as it was left. Empty if there is none, or no such file.
std::string last_line(const std::filesystem::path& log);

}  // namespace proca::experiments
