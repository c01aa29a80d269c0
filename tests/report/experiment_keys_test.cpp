#include <gtest/gtest.h>

#include "protocol/experiment.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

// Experiments and the paper's numbers are files of different people: rows, columns and
// blocks have to be called the same in both.
TEST(ExperimentKeysTest, EveryCellOfThePapersTablesHasItsNumber) {
  for (const auto& experiment : protocol::all_experiments()) {
    if (experiment.paper.empty()) continue;  // One of our own.
    const auto& paper = paper_numbers(experiment.name);
    if (experiment.view == protocol::TableView::kBars) {
      EXPECT_TRUE(paper.empty()) << "a figure without numbers";
      continue;
    }
    const auto table = make_table(experiment, {}, paper);
    EXPECT_FALSE(table.blocks.empty()) << experiment.name;
    for (const auto& block : table.blocks) {
      EXPECT_FALSE(block.rows.empty()) << experiment.name << " " << block.name;
      for (const auto& row : block.rows) {
        ASSERT_EQ(row.cells.size(), block.columns.size());
        for (size_t i = 0; i < row.cells.size(); ++i) {
          EXPECT_TRUE(row.cells[i].paper.has_value())
              << experiment.name << ": " << block.name << ", " << row.label << ", "
              << block.columns[i];
        }
      }
    }
  }
}

}  // namespace
}  // namespace proca::report
