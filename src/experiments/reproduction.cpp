#include "experiments/reproduction.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "core/files/lock_file.h"
#include "core/files/path.h"
#include "core/progress.h"
#include "experiments/run_results.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "proca/state/state_directory.h"
#include "state/state_files.h"

namespace proca::experiments {
namespace {

namespace fs = std::filesystem;

class Reproduction {
 public:
  Reproduction(const ReproductionPlan& plan, const ReproductionOptions& options,
               std::span<const JobSlot> slots)
      : plan_(plan), data_root_(absolute_path(options.data_root)), slots_(slots) {}

  ReproductionOutcome run() {
    Planned runs, sources;
    std::set<int64_t> needed;
    for (const auto& run : plan_.runs) {
      if (is_done(run)) continue;
      runs.push_back(&run);
      if (run.source) needed.insert(*run.source);
    }
    for (const int64_t index : needed) {
      const auto& source = plan_.sources[static_cast<size_t>(index)];
      if (!is_trained(source)) sources.push_back(&source);
    }
    total_ = static_cast<int64_t>(sources.size() + runs.size());
    log_info(
        fmt::format("{} of {} runs are done", plan_.runs.size() - runs.size(), plan_.runs.size()));
    // In a log the lines of the jobs are enough.
    if (isatty(STDERR_FILENO) != 0) progress_.emplace("runs", total_, "runs");
    if (perform(sources)) perform(runs);
    progress_.reset();
    read_cells();
    return std::move(outcome_);
  }

 private:
  using Planned = std::vector<const PlannedRun*>;

  bool is_done(const PlannedRun& run) const {
    if (!read_results(run.folder, run.seed)) return false;
    check_images(run.folder);
    // A later version of the program may have other defaults, and so other results.
    const auto line = missing_option(run.folder, run.options);
    if (line.empty()) return true;
    throw InputError(fmt::format("{}: holds results of a run without {}; use another --out",
                                 run.folder.string(), line));
  }

  // The model counts, with whatever target its run was: that may have been another experiment's.
  // If it was this one's, and was interrupted after the training, it is finished.
  bool is_trained(const PlannedRun& source) const {
    const auto state = source.folder / fmt::format("source-{}", source.seed);
    if (!state::StateDirectory::exists(state) ||
        state::StateDirectory::read_manifest(state).phase != state::Phase::kReady) {
      return false;
    }
    if (!is_there(source.folder / "run.toml")) return false;
    check_images(source.folder);
    if (is_there(source.folder / "results.json")) return true;
    const auto& words = source.job.command;
    const auto target = std::find(words.begin(), words.end(), "--target");
    return target == words.end() || option_of(source.folder, "target") != *std::next(target);
  }

  void check_images(const fs::path& folder) const {
    const auto theirs = option_of(folder, "data-root");
    if (absolute_path(theirs) == data_root_) return;
    throw InputError(
        fmt::format("{}: holds results of the images in {}, not in {}; use another --out",
                    folder.string(), theirs, data_root_.string()));
  }

  // Whether no job failed.
  bool perform(const Planned& planned) {
    std::vector<Job> jobs;
    for (const auto* run : planned) jobs.push_back(run->job);
    JobListener listener;
    listener.on_end = [&](const JobEnd& end) {
      report(*planned[static_cast<size_t>(end.job)], end);
    };
    listener.on_wait = [&] {
      if (progress_) progress_->update(done_);
    };
    run_jobs(jobs, slots_, listener);
    return !outcome_.failure;
  }

  void report(const PlannedRun& run, const JobEnd& end) {
    if (end.exit_code != 0) {
      const FailedJob failure{run.job.label, end.exit_code, last_line(run.job.log), run.job.log};
      if (end.exit_code != 130) {  // which ends a job that was interrupted
        log_warning(fmt::format("{}: failed with exit code {}: {}", failure.label,
                                failure.exit_code, failure.reason));
      }
      // The first is the one to report; later failures are often caused by it.
      if (!outcome_.failure) outcome_.failure = failure;
      return;
    }
    ++done_;
    const auto metrics = read_results(run.folder, run.seed);
    if (!metrics) {
      throw Error(fmt::format("{}: ended well, but {} has no results.json", run.job.label,
                              run.folder.string()));
    }
    log_info(fmt::format("{}/{} {}: {:.1f} % in {}", done_, total_, run.job.label,
                         metrics->final_accuracy * 100, format_duration(end.seconds)));
  }

  void read_cells() {
    for (const auto& cell : plan_.cells) {
      const auto& run = plan_.runs[static_cast<size_t>(cell.planned)];
      const auto metrics = read_results(run.folder, run.seed);
      if (!metrics) continue;
      const auto steps = static_cast<int64_t>(metrics->steps.size());
      outcome_.results.push_back({.run = cell.run,
                                  .task = cell.task,
                                  .seed = cell.seed,
                                  .metrics = *metrics,
                                  .detection = read_detection(run.folder, run.seed, steps)});
    }
  }

  const ReproductionPlan& plan_;
  const fs::path data_root_;
  std::span<const JobSlot> slots_;
  ReproductionOutcome outcome_;
  std::optional<Progress> progress_;
  int64_t done_ = 0, total_ = 0;
};

}  // namespace

ReproductionOutcome perform_reproduction(const ReproductionPlan& plan,
                                         const ReproductionOptions& options,
                                         std::span<const JobSlot> slots) {
  create_writable_folder(options.out);
  const LockFile lock(options.out / state::kLockFile);
  return Reproduction(plan, options, slots).run();
}

}  // namespace proca::experiments
