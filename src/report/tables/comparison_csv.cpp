#include <fmt/format.h>

#include "core/files/csv.h"
#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"
#include "report/tables/text_table.h"

namespace proca::report {
namespace {

// More digits than other formats, which may be made of these numbers.
std::string exact(double value) { return show_number(value, 4); }

std::string show_line(const TableBlock& block, const TableBlock::Row& row, size_t column) {
  const auto& cell = row.cells[column];
  const auto difference = difference_of(cell);
  // A cell that is no figure has its text in the places of ours and the paper's.
  auto line = fmt::format("{},{},{},", csv_field(block.name), csv_field(row.label),
                          csv_field(block.columns[column]));
  line += cell.mean ? exact(*cell.mean) : csv_field(cell.text);
  line += fmt::format(",{},{},", cell.mean ? exact(cell.std) : "",
                      cell.count > 0 ? std::to_string(cell.count) : "");
  if (cell.paper) {
    line += cell.paper->text.empty() ? exact(cell.paper->value) : csv_field(cell.paper->text);
  }
  line += fmt::format(",{},{}\n", difference ? exact(*difference) : "",
                      cell.paper ? csv_field(cell.paper->note) : "");
  return line;
}

}  // namespace

std::string to_csv(const ComparisonTable& table) {
  std::string text = "block,row,column,mean,std,seeds,paper,difference,note\n";
  for (const auto& block : table.blocks) {
    for (const auto& row : block.rows) {
      for (size_t i = 0; i < row.cells.size(); ++i) text += show_line(block, row, i);
    }
  }
  return text;
}

}  // namespace proca::report
