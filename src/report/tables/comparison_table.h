#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/experiment.h"
#include "protocol/run_metrics.h"
#include "report/tables/paper_numbers.h"

namespace proca::report {

/// Which classes a step of a run took to be present.
struct DetectedClasses {
  std::vector<int64_t> detected;   ///< labels
  std::vector<int64_t> present;    ///< labels
  std::vector<double> cumulative;  ///< by label, in [0, 1]
  double threshold = 0;
};

/// What one run came to: one row and task of an experiment with one seed.
struct RunResult {
  std::string run;   ///< label of the row
  std::string task;  ///< label of the task
  int64_t seed = 0;
  protocol::RunMetrics metrics;
  std::vector<DetectedClasses> detection = {};  ///< by step; empty if the method detects none
};

/// A cell: our figure over the seeds and the paper's.
struct Cell {
  std::optional<double> mean = {};  ///< nothing where a run is missing
  double std = 0;                   ///< with n - 1; 0 for a single seed
  int64_t count = 0;                ///< of seeds
  std::optional<PaperNumber> paper = {};
  std::string text = {};  ///< for cells that are no figures, such as lists of classes
};

/// What is the best of several cells, if anything.
enum class Best {
  kHighestOfColumn,
  kLowestOfColumn,
  kHighestOfRow,
  kNone,
};

/// A table proper: one metric, or one task.
struct TableBlock {
  std::string name;   ///< key in the paper's numbers: `final`, `A->D step-accuracy`
  std::string title;  ///< as people read it
  std::vector<std::string> columns;
  struct Row {
    std::string label;
    std::vector<Cell> cells;  ///< one per column
  };
  std::vector<Row> rows = {};
  Best best = Best::kHighestOfColumn;
  int64_t decimals = 1;  ///< as people read it; CSV has more
};

/// Our figures beside the paper's.
struct ComparisonTable {
  std::string title;
  std::string paper;  ///< where in the paper
  std::vector<TableBlock> blocks;
};

/// Lays results out as the experiment says. A cell is a mean over those seeds of the
/// experiment that have the runs it needs, and `Cell::count` of them; results of other
/// seeds, rows and tasks are passed over. Means over tasks leave out nothing: a seed
/// of which one task is missing has no mean, and a mean's spread is that of the seeds'
/// means.
///
/// | view             | blocks                    | rows         | columns                      |
/// |------------------|---------------------------|--------------|------------------------------|
/// | tasks            | `final`: one per metric   | runs         | tasks, `Avg`                 |
/// | steps            | `step-accuracy`: the same | runs         | `1`, `2`, ..., `Avg`         |
/// | task-steps       | `A->D step-accuracy`      | runs         | `1`, `2`, ..., `Avg`         |
/// | drop             | `drop`                    | runs         | `1`, `2`, ...                |
/// | sweep            | `lambda`: one per option  | metrics      | `lambda = 0.1`: runs         |
/// | detected-classes | `A->D`: one per task      | `SCD step 1` | `classes`, `SCD Acc`, ...    |
/// | bars             | `A->D step 1`             | labels       | `cumulative`, `detected`, ...|
///
/// There are as many steps as the longest run or the paper has. A metric of a whole run
/// stands, in a view with a column per step, for its value at that step, and the other
/// way round for the mean of the steps. A run without pseudo-labels shows its accuracy
/// in their place. Lists of classes are those of the first seed, wrong ones in
/// parentheses: `0-7 9 (12)`. Bars are no percentages, and `detected` is the share of
/// the seeds; with several runs the block is called `A->D LABEL step 1`.
ComparisonTable make_table(const protocol::Experiment& experiment,
                           std::span<const RunResult> results, const PaperNumbers& paper);

/// For a terminal: ours, the paper's and the difference in rows under each other; a
/// block that would be wider than 100 columns comes in parts. What is missing is `-`.
std::string to_text(const ComparisonTable& table);
/// GitHub's tables, `82.1 ± 0.3 (paper 82.5, -0.4)`; doubtful numbers of the paper have
/// a footnote that says why.
std::string to_markdown(const ComparisonTable& table);
/// One line per cell: block, row, column, mean, std, seeds, paper, difference, note.
std::string to_csv(const ComparisonTable& table);
/// A `tabular` per block (package booktabs), the best of ours in bold.
std::string to_latex(const ComparisonTable& table);

/// `title`, and `tables` as a report shows them (docs/formats/report_data.md): the paper's
/// numbers are rows of their own.
std::string to_json(const ComparisonTable& table);

}  // namespace proca::report
