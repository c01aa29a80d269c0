#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/tables/comparison_table.h"

namespace proca::report {

/// What all formats show for a missing figure.
inline const std::string kMissing = "-";

/// Ours minus the paper's, if both are numbers.
std::optional<double> difference_of(const Cell& cell);

/// `82.1 ± 0.3`; without a deviation if there is one seed. Our text if it is one.
std::string show_ours(const Cell& cell, int64_t decimals);
/// `82.5`, or the paper's text.
std::string show_paper(const Cell& cell, int64_t decimals);
/// `-0.4`, `+1.0`, `0.0`; empty if there is none.
std::string show_difference(const Cell& cell, int64_t decimals);

/// Whether the paper has anything to say about a block.
bool has_paper(const TableBlock& block);

/// Whether any cell of a row has one.
bool has_difference(const TableBlock::Row& row);

/// Whether no cell that it is compared with (`TableBlock::best`) is better, as shown; one
/// that is alone is not the best of anything.
bool is_best(const TableBlock& block, size_t row, size_t column);

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

}  // namespace proca::report
