#include "report/tables/comparison_cells.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/tables/text_table.h"

namespace proca::report {
namespace {

// Higher is better; rounded as it is shown, so that equals are equal.
std::optional<double> rank_of(const TableBlock& block, size_t row, size_t column) {
  const auto& mean = block.rows[row].cells[column].mean;
  if (!mean || !block.rows[row].competes) return std::nullopt;
  const auto unit = std::pow(10.0, static_cast<double>(block.decimals));
  return std::round(*mean * unit) * (block.best == Best::kLowestOfColumn ? -1 : 1);
}

bool is_best(const TableBlock& block, size_t row, size_t column) {
  const auto own = rank_of(block, row, column);
  if (!own || block.best == Best::kNone) return false;
  const bool by_row = block.best == Best::kHighestOfRow;
  const auto size = by_row ? block.columns.size() : block.rows.size();
  int64_t num_others = 0;
  for (size_t i = 0; i < size; ++i) {
    const auto other = by_row ? rank_of(block, row, i) : rank_of(block, i, column);
    if (!other || i == (by_row ? column : row)) continue;
    ++num_others;
    if (*other > *own) return false;
  }
  return num_others > 0;
}

}  // namespace

std::optional<double> difference_of(const Cell& cell) {
  if (!cell.mean || !cell.paper || !cell.paper->text.empty()) return std::nullopt;
  return *cell.mean - cell.paper->value;
}

std::string show_ours(const Cell& cell, int64_t decimals) {
  if (!cell.text.empty()) return cell.text;
  if (!cell.mean) return kMissing;
  const auto mean = show_number(*cell.mean, decimals);
  return cell.count > 1 ? mean + " ± " + show_number(cell.std, decimals) : mean;
}

std::string show_paper(const Cell& cell, int64_t decimals) {
  if (!cell.paper) return kMissing;
  return cell.paper->text.empty() ? show_number(cell.paper->value, decimals) : cell.paper->text;
}

std::string show_difference(const Cell& cell, int64_t decimals) {
  const auto difference = difference_of(cell);
  if (!difference) return "";
  const auto text = show_number(*difference, decimals);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  return *difference > 0 && !is_zero ? "+" + text : text;
}

bool has_paper(const TableBlock& block) {
  return std::any_of(block.rows.begin(), block.rows.end(), [](const auto& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const Cell& cell) { return cell.paper.has_value(); });
  });
}

std::string describe_seeds(const ComparisonTable& table) {
  std::vector<int64_t> counts;
  for (const auto& block : table.blocks) {
    for (const auto& row : block.rows) {
      for (const auto& cell : row.cells) {
        if (cell.mean) counts.push_back(cell.count);
      }
    }
  }
  if (counts.empty()) return "";
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (*most < 2) return "";
  return *least == *most ? fmt::format("mean ± std of {} seeds", *most)
                         : fmt::format("mean ± std of {} to {} seeds", *least, *most);
}

int64_t Footnotes::number_of(const Cell& cell) {
  if (!cell.paper || cell.paper->note.empty()) return 0;
  auto place = std::find(notes_.begin(), notes_.end(), cell.paper->note);
  if (place == notes_.end()) place = notes_.insert(notes_.end(), cell.paper->note);
  return place - notes_.begin() + 1;
}

std::vector<ShownRow> shown_rows(const TableBlock& block, Footnotes& footnotes) {
  std::vector<ShownRow> rows;
  const bool with_paper = has_paper(block);
  for (size_t row = 0; row < block.rows.size(); ++row) {
    const auto& [label, cells, competes] = block.rows[row];
    ShownRow ours{ShownRow::kOurs, label}, paper{ShownRow::kPaper, label},
        difference{ShownRow::kDifference, label};
    bool has_difference = false;
    for (size_t column = 0; column < cells.size(); ++column) {
      const auto& cell = cells[column];
      ours.cells.push_back({show_ours(cell, block.decimals), is_best(block, row, column)});
      paper.cells.push_back({show_paper(cell, block.decimals), false, footnotes.number_of(cell)});
      difference.cells.push_back({show_difference(cell, block.decimals)});
      has_difference = has_difference || difference_of(cell).has_value();
    }
    rows.push_back(std::move(ours));
    if (with_paper) rows.push_back(std::move(paper));
    if (has_difference) rows.push_back(std::move(difference));
  }
  return rows;
}

}  // namespace proca::report
