#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/job_pool.h"
#include "protocol/experiment.h"
#include "protocol/run_result.h"

namespace proca::experiments {

/// How to perform an experiment.
struct ReproductionOptions {
  std::filesystem::path program;    ///< `proca`, which performs the single runs
  std::filesystem::path data_root;  ///< folder of the preset's domains
  std::filesystem::path out;        ///< where runs, source models and tables are kept
  /// Options of `proca run` for every run, name -> values. The experiment's own options of a run
  /// win; an option of methods goes to the methods that have it.
  std::map<std::string, std::vector<std::string>> options = {};
  /// Source models that exist: a state directory in which `{source}` stands for the
  /// domain and `{seed}` for the seed. Empty: they are trained.
  std::string source_state = {};
  /// Arguments of every `proca run` that decide no result, such as `--threads 4`.
  std::vector<std::string> arguments = {};
};

/// One `proca run` of a plan.
struct PlannedRun {
  Job job;
  std::filesystem::path folder;  ///< its `--out`
  int64_t seed = 0;
  /// Which of the plan's sources it starts from; nothing for one that is given.
  std::optional<int64_t> source = {};
  /// What it should have been run with, as lines of TOML.
  std::string options = {};
};

/// One run of the experiment's table, and which planned run it is.
struct PlannedCell {
  std::string run;   ///< label
  std::string task;  ///< label
  int64_t seed = 0;
  int64_t planned = 0;  ///< index
};

/// The runs of an experiment. Cells of equal runs share one: a value of a
/// sweep that is the method's own is the same run as the method without options.
struct ReproductionPlan {
  std::vector<PlannedRun> sources;  ///< train a source model each; first
  std::vector<PlannedRun> runs;
  std::vector<PlannedCell> cells;
};

/// Works out the runs, and where each is kept under `out`:
///
///     sources/PRESET/SOURCE/seed-0/         a source model; its state is in source-0/
///     runs/PRESET/SOURCE-TARGET/METHOD/seed-0/
///
/// The folder of a method, and of a source, has a digest of the options behind its
/// name if any of them changes anything: `proca-1f0c2a9b`. So equal runs of different
/// experiments have the same folder. The name of a preset that is a file has a digest
/// of the file.
///
/// All checks happen here, before anything is started. Throws
/// `InputError` naming the expected places when images of a task are missing and when a
/// source model to be used is not there, `InvalidOption` for unknown methods and for
/// options that do not exist or have a bad value.
ReproductionPlan plan_reproduction(const protocol::Experiment& experiment,
                                   const ReproductionOptions& options);

/// The job whose failure ended the reproduction.
struct FailedJob {
  std::string label;
  int64_t exit_code = 0;
  std::string reason;  ///< last line of its log
  std::filesystem::path log;
};

struct ReproductionOutcome {
  std::vector<protocol::RunResult> results;  ///< of the cells whose runs are done
  std::optional<FailedJob> failure = {};
};

/// Performs the runs of a plan that are not done yet, source models first, one job per
/// slot at a time. An interrupted run is resumed, a finished one is not started. After a job
/// has failed no other is started, and the outcome has the results so far.
///
/// Throws `Interrupted` on Ctrl-C, after the jobs have saved what they had, and
/// `InputError` when `out` cannot be written, is in use by another process, or holds
/// results of other images.
ReproductionOutcome perform_reproduction(const ReproductionPlan& plan,
                                         const ReproductionOptions& options,
                                         std::span<const JobSlot> slots);

/// Fits `experiment` to tasks and runs with these labels, in its own order; an empty
/// list stands for all. Throws `InvalidOption` for an unknown label, with the nearest.
protocol::Experiment narrowed(protocol::Experiment experiment,
                              const std::vector<std::string>& tasks,
                              const std::vector<std::string>& runs);

}  // namespace proca::experiments
