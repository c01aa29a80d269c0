#include "core/files/read_json.h"
#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

Json block_json(const TableBlock& block) {
  Json rows = Json::array();
  Footnotes footnotes;
  for (const auto& row : shown_rows(block, footnotes)) {
    if (row.kind == ShownRow::kDifference) continue;
    const bool is_paper = row.kind == ShownRow::kPaper;
    Json shown = {{"label", row.label + (is_paper ? " (paper)" : "")}, {"cells", Json::array()}};
    for (const auto& [text, is_best, note] : row.cells) {
      shown["cells"].push_back(
          {{"text", note > 0 ? fmt::format("{} [{}]", text, note) : text}, {"best", is_best}});
    }
    rows.push_back(std::move(shown));
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
