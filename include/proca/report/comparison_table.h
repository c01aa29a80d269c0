#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proca/protocol/experiment.h"
#include "proca/protocol/run_metrics.h"
#include "proca/report/paper_numbers.h"

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
  double std = 0;
  int64_t count = 0;  ///< of seeds
  std::optional<PaperNumber> paper = {};
  std::string text = {};  ///< for cells that are no figures, such as lists of classes
};

struct TableBlock {
  std::string name;   ///< key in the paper's numbers: `final`, `A->D step-accuracy`
  std::string title;  ///< as people read it
  std::vector<std::string> columns;
  struct Row {
    std::string label;
    std::vector<Cell> cells;
  };
  std::vector<Row> rows;
};

/// Our figures beside the paper's.
struct ComparisonTable {
  std::string title;
  std::string paper;  ///< where in the paper
  std::vector<TableBlock> blocks;
};

/// Lays results out as the experiment says. Means over tasks leave out nothing: where
/// a run is missing the mean is missing too, and a mean's spread is that of the seeds'
/// means.
ComparisonTable make_table(const protocol::Experiment& experiment,
                           std::span<const RunResult> results, const PaperNumbers& paper);

/// For a terminal: ours, the paper's and the difference in rows under each other.
std::string to_text(const ComparisonTable& table);
/// GitHub's tables, `82.1 ± 0.3 (paper 82.5, -0.4)`; doubtful numbers of the paper have
/// a footnote that says why.
std::string to_markdown(const ComparisonTable& table);
/// One line per cell: block, row, column, mean, std, seeds, paper, difference, note.
std::string to_csv(const ComparisonTable& table);
/// A `tabular` per block (package booktabs), best of each column in bold.
std::string to_latex(const ComparisonTable& table);

}  // namespace proca::report
