#include <fmt/format.h>

#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

// What Markdown would take for its own, and what would end a cell.
std::string escape_markdown(const std::string& text) {
  constexpr std::string_view kSpecial = "\\`*_[]<|";
  std::string escaped;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// `82.1 ± 0.3 (paper 82.5[^1], -0.4)`
std::string show(const Cell& cell, int64_t decimals, Footnotes& footnotes) {
  auto text = escape_markdown(show_ours(cell, decimals));
  if (!cell.paper) return text;
  text += " (paper " + escape_markdown(show_paper(cell, decimals));
  if (const auto note = footnotes.number_of(cell); note > 0) text += fmt::format("[^{}]", note);
  const auto difference = show_difference(cell, decimals);
  return text + (difference.empty() ? ")" : ", " + difference + ")");
}

}  // namespace

std::string to_markdown(const ComparisonTable& table) {
  auto text = fmt::format("## {}\n", escape_markdown(table.title));
  std::string about =
      table.paper.empty() ? "" : fmt::format("Paper: {}.", escape_markdown(table.paper));
  if (const auto seeds = describe_seeds(table); !seeds.empty()) {
    about += fmt::format("{}Figures are {}.", about.empty() ? "" : " ", seeds);
  }
  if (!about.empty()) text += "\n" + about + "\n";
  Footnotes footnotes;
  for (const auto& block : table.blocks) {
    text += fmt::format("\n### {}\n\n|", escape_markdown(block.title));
    for (const auto& column : block.columns) text += " | " + escape_markdown(column);
    text += " |\n|---|";
    for (size_t i = 0; i < block.columns.size(); ++i) text += "---:|";
    text += "\n";
    for (const auto& row : block.rows) {
      text += "| " + escape_markdown(row.label);
      for (const auto& cell : row.cells) text += " | " + show(cell, block.decimals, footnotes);
      text += " |\n";
    }
  }
  if (table.blocks.empty()) text += "\nNo results yet.\n";
  if (!footnotes.notes().empty()) text += "\n";
  for (size_t i = 0; i < footnotes.notes().size(); ++i) {
    text += fmt::format("[^{}]: {}\n", i + 1, escape_markdown(footnotes.notes()[i]));
  }
  return text;
}

}  // namespace proca::report
