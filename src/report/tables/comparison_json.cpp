#include "report/collect/report_json.h"
#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

Json block_json(const TableBlock& block) {
  Json rows = Json::array();
  Footnotes footnotes;
  for (size_t row = 0; row < block.rows.size(); ++row) {
    const auto& [label, cells] = block.rows[row];
    Json ours = {{"label", label}, {"cells", Json::array()}};
    Json paper = {{"label", label + " (paper)"}, {"cells", Json::array()}};
    for (size_t column = 0; column < cells.size(); ++column) {
      const auto note = footnotes.number_of(cells[column]);
      ours["cells"].push_back({{"text", show_ours(cells[column], block.decimals)},
                               {"best", is_best(block, row, column)}});
      paper["cells"].push_back({{"text", show_paper(cells[column], block.decimals) +
                                             (note > 0 ? fmt::format(" [{}]", note) : "")},
                                {"best", false}});
    }
    rows.push_back(std::move(ours));
    if (has_paper(block)) rows.push_back(std::move(paper));
  }
  Json columns = {""};
  for (const auto& column : block.columns) columns.push_back(column);
  auto notes = Json::array();
  for (size_t i = 0; i < footnotes.notes().size(); ++i) {
    notes.push_back(fmt::format("[{}] {}", i + 1, footnotes.notes()[i]));
  }
  return {{"title", block.title}, {"columns", columns}, {"rows", rows}, {"notes", notes}};
}

}  // namespace

std::string to_json(const ComparisonTable& table) {
  Json json = {{"title", table.title}, {"tables", Json::array()}};
  for (const auto& block : table.blocks) {
    auto shown = block_json(block);
    if (const auto seeds = describe_seeds(table); !seeds.empty()) shown["notes"].push_back(seeds);
    if (!table.paper.empty()) shown["notes"].push_back("paper: " + table.paper);
    json["tables"].push_back(std::move(shown));
  }
  return text_of(json) + "\n";
}

}  // namespace proca::report
