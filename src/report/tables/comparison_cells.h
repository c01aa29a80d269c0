#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/tables/comparison_table.h"

namespace proca::report {

/// Shown for a missing number in all formats.
inline const std::string kMissing = "-";

/// Ours minus the paper's, if both are numbers.
std::optional<double> difference_of(const Cell& cell);

/// `82.1 ± 0.3`; without a deviation if there is one seed. The text of a cell that is no number.
std::string show_ours(const Cell& cell, int64_t decimals);
/// `82.5`, or the paper's text.
std::string show_paper(const Cell& cell, int64_t decimals);
/// `-0.4`, `+1.0`, `0.0`; empty if there is none.
std::string show_difference(const Cell& cell, int64_t decimals);

/// Whether the paper has a number in a block.
bool has_paper(const TableBlock& block);

/// `mean ± std of 3 seeds`, or `1 to 3` where some are missing; empty if no cell has
/// several.
std::string describe_seeds(const ComparisonTable& table);

/// Notes of a table in the order of their first use; equal ones share a number.
class Footnotes {
 public:
  /// From 1; 0 for a cell whose paper's number has no note.
  int64_t number_of(const Cell& cell);
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<std::string> notes_;
};

/// A row as people read it: our values, the paper's, or the differences.
struct ShownRow {
  enum Kind { kOurs, kPaper, kDifference } kind = kOurs;
  struct ShownCell {
    std::string text;
    /// No cell that it is compared with (`TableBlock::best`) is better, as shown, and there is one.
    bool is_best = false;
    int64_t note = 0;  ///< number of its footnote, from 1; 0 for none
  };
  std::string label;  ///< of the table's row
  std::vector<ShownCell> cells = {};
};

/// Up to three rows for each of the block: ours; the paper's if the block has any; the differences
/// if the row has any.
std::vector<ShownRow> shown_rows(const TableBlock& block, Footnotes& footnotes);

}  // namespace proca::report
