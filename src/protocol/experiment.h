#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proca::protocol {

/// The layout of an experiment's table.
enum class TableView {
  kTasks,            ///< a row per run, a column per task and their mean; a block per metric
  kSteps,            ///< a row per run, a column per step, each the mean over the tasks
  kTaskSteps,        ///< the same for each task on its own; a block per task and metric
  kSweep,            ///< a row per metric, a column per run, each the mean over the tasks
  kDetectedClasses,  ///< per task and step the detected classes, right and wrong, and their shares
  kBars,             ///< per task and step the cumulative probability of every class
  kDrop,             ///< a row per run, a column per step: drop of S-1 accuracy, mean of tasks
};

/// What is measured; all in percent.
enum class TableMetric {
  kFinal,         ///< accuracy after the last step
  kFinalS1,       ///< accuracy on the classes of the first step after the last
  kStepAccuracy,  ///< accuracy after each step: for views with a column per step
  kS1Accuracy,    ///< S-1 accuracy after each step
  kPseudoLabels,  ///< share of right pseudo-labels of all steps together
  kRecall,        ///< share of a step's classes that were detected, mean of the steps
  kPrecision,     ///< share of the detected classes that are there, mean of the steps
  kDrop,          ///< S-1 after step 1 minus S-1 after each step
};

/// One method with its options: a row (in a sweep a column) of a table.
struct ExperimentRun {
  std::string label;   ///< as the table shows it
  std::string method;  ///< a name of `proca methods`
  /// Further options of `proca run`: name -> values.
  std::map<std::string, std::vector<std::string>> options = {};
};

/// A source and a target, under the short name that tables use.
struct ExperimentTask {
  std::string label;  ///< `A->W`
  std::string source;
  std::string target;
};

/// Runs to perform and the table to make of them. It comes from a TOML file; those
/// of the folder `experiments/` are the tables and figures of the paper and are part
/// of the program.
///
/// ```
/// title = "Final accuracy on Office-31-CI"
/// paper = "Table 2"             # left out: nothing to compare with
/// preset = "office31-ci"        # a name, or a TOML file beside this one
/// view = "tasks"                # tasks, steps, task-steps, sweep, detected-classes, bars, drop
/// metrics = ["final", "final-s1"]
/// seeds = [0, 1, 2]
///
/// [tasks]                       # label = [source, target]
/// "A->W" = ["amazon", "webcam"]
///
/// [options]                     # of every run, as in proca run
/// epochs = 10
///
/// [run.PADA]                    # a row; its label may be any text in quotes
/// method = "pada"
/// [run."ProCA, alpha 0.2"]
/// method = "proca"
/// alpha = 0.2
///
/// [sweep]                       # or: one run per value, labelled "alpha = 0.1"; several
/// method = "proca"              # options are swept one after the other
/// alpha = [0.1, 0.15, 0.2]
/// ```
struct Experiment {
  std::string name;
  std::string title;
  std::string paper;  ///< where in the paper; empty for the user's own
  std::string preset;
  TableView view = TableView::kTasks;
  std::vector<TableMetric> metrics;
  std::vector<int64_t> seeds;
  std::vector<ExperimentTask> tasks;
  std::vector<ExperimentRun> runs;  ///< with [options] merged in and [sweep] expanded
};

/// The name of a view or metric in a file: `task-steps`, `final-s1`.
std::string_view name_of(TableView view);
std::string_view name_of(TableMetric metric);

/// The experiments of the program, in the order of the paper.
const std::vector<Experiment>& all_experiments();

/// An experiment of the program by name, or the user's own by the path of a `.toml` file.
/// Throws `InvalidOption` for an unknown name, with the nearest known one, and
/// `InputError` with `file:line` for a bad file.
Experiment find_experiment(const std::string& name_or_file);

/// Parses an experiment; `origin` names it in messages.
Experiment parse_experiment(std::string_view toml, const std::string& name,
                            const std::string& origin);

}  // namespace proca::protocol
