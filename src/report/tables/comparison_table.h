#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/experiment.h"
#include "protocol/run_result.h"
#include "report/tables/paper_numbers.h"

namespace proca::report {

using protocol::RunResult;

/// A cell: our value over the seeds and the paper's.
struct Cell {
  std::optional<double> mean = {};  ///< nothing where a run is missing
  double std = 0;                   ///< with n - 1; 0 for a single seed
  int64_t count = 0;                ///< of seeds
  std::optional<PaperNumber> paper = {};
  std::string text = {};  ///< for cells that are no numbers, such as lists of classes
};

/// Which cells are marked as the best.
enum class Best {
  kHighestOfColumn,
  kLowestOfColumn,
  kHighestOfRow,
  kNone,
};

/// One table of several: of one metric, or of one task.
struct TableBlock {
  std::string name;   ///< key in the paper's numbers: `final`, `A->D step-accuracy`
  std::string title;  ///< as people read it
  std::vector<std::string> columns;
  struct Row {
    std::string label;
    std::vector<Cell> cells;  ///< one per column
    /// Whether its cells may be the best of their columns: a run that never learns is not the one
    /// that forgets least.
    bool competes = true;
  };
  std::vector<Row> rows = {};
  Best best = Best::kHighestOfColumn;
  int64_t decimals = 1;  ///< as people read it; CSV has more
};

/// Our results beside the paper's.
struct ComparisonTable {
  std::string title;
  std::string paper;  ///< where in the paper
  std::vector<TableBlock> blocks;
};

/// Lays out results in the view of the experiment. A cell is the mean over the `Cell::count` seeds
/// of the experiment that have all runs it needs; results of other seeds, rows and tasks are
/// ignored. A seed that lacks one task has no mean over tasks; the deviation of such a mean is that
/// of the seeds' means.
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
/// There are as many steps as the longest run or the paper has. In a view with a column per step
/// a metric of a whole run shows its value at that step; elsewhere a metric of steps shows their
/// mean. A run without pseudo-labels shows its accuracy in their place. Lists of classes are those
/// of the first seed, wrong ones in parentheses: `0-7 9 (12)`. Bars are no percentages, and
/// `detected` is the share of the seeds; with several runs the block is called `A->D LABEL step 1`.
ComparisonTable make_table(const protocol::Experiment& experiment,
                           std::span<const RunResult> results, const PaperNumbers& paper);

/// For a terminal: ours, the paper's and the difference in rows under each other; a
/// block that would be wider than 100 columns comes in parts. What is missing is `-`.
std::string to_text(const ComparisonTable& table);
/// GitHub's tables, `82.1 ± 0.3 (paper 82.5, -0.4)`; doubtful numbers of the paper have
/// a footnote with the reason.
std::string to_markdown(const ComparisonTable& table);
/// One line per cell: block, row, column, mean, std, seeds, paper, difference, note.
std::string to_csv(const ComparisonTable& table);
/// A `tabular` per block (package booktabs), the best of ours in bold.
std::string to_latex(const ComparisonTable& table);

/// `title`, and `tables` as a report shows them (docs/formats/report_data.md): the paper's
/// numbers are rows of their own.
std::string to_json(const ComparisonTable& table);

}  // namespace proca::report
