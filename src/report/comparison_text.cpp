#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comparison_cells.h"
#include "proca/report/comparison_table.h"
#include "text_table.h"

namespace proca::report {
namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr int64_t kTextWidth = 100;

// The block as cells of text, behind them the number of columns that lead each part.
struct Layout {
  Lines lines;
  size_t num_leading = 1;
};

Layout lay_out(const TableBlock& block, Footnotes& footnotes) {
  Layout layout;
  const bool with_paper = has_paper(block);
  layout.num_leading = with_paper ? 2 : 1;
  auto& header = layout.lines.emplace_back(layout.num_leading);
  header.insert(header.end(), block.columns.begin(), block.columns.end());
  for (const auto& row : block.rows) {
    std::vector<std::string> ours = {row.label}, paper = {"", "paper"}, difference = {"", "diff"};
    if (with_paper) ours.emplace_back("ours");
    for (const auto& cell : row.cells) {
      const auto note = footnotes.number_of(cell);
      ours.push_back(show_ours(cell, block.decimals));
      paper.push_back(show_paper(cell, block.decimals) +
                      (note > 0 ? fmt::format(" [{}]", note) : ""));
      difference.push_back(show_difference(cell, block.decimals));
    }
    layout.lines.push_back(std::move(ours));
    if (!with_paper) continue;
    layout.lines.push_back(std::move(paper));
    layout.lines.push_back(std::move(difference));
  }
  return layout;
}

int64_t width_of_column(const Lines& lines, size_t column) {
  int64_t width = 0;
  for (const auto& line : lines) width = std::max(width, display_width(line[column]));
  return width;
}

// As many columns at a time as fit, at least one, each time behind the leading ones.
std::string show_in_parts(const Layout& layout) {
  const auto& lines = layout.lines;
  const auto num_columns = lines.front().size();
  int64_t leading = 0;
  for (size_t i = 0; i < layout.num_leading; ++i) leading += width_of_column(lines, i) + 2;
  std::vector<std::string> parts;
  for (size_t first = layout.num_leading; first < num_columns;) {
    auto last = first;
    int64_t width = leading - 2;
    do {
      width += width_of_column(lines, last++) + 2;
    } while (last < num_columns && width + 2 + width_of_column(lines, last) <= kTextWidth);
    Lines part;
    for (const auto& line : lines) {
      auto& cells = part.emplace_back(
          line.begin(), line.begin() + static_cast<std::ptrdiff_t>(layout.num_leading));
      cells.insert(cells.end(), line.begin() + static_cast<std::ptrdiff_t>(first),
                   line.begin() + static_cast<std::ptrdiff_t>(last));
    }
    parts.push_back(text_table(part, kTextWidth));
    first = last;
  }
  return fmt::format("{}", fmt::join(parts, "\n"));
}

}  // namespace

std::string to_text(const ComparisonTable& table) {
  auto text = table.title;
  if (!table.paper.empty()) text += fmt::format(" (paper: {})", table.paper);
  text += "\n";
  if (const auto seeds = describe_seeds(table); !seeds.empty()) text += seeds + "\n";
  Footnotes footnotes;
  for (const auto& block : table.blocks) {
    text += "\n" + block.title + "\n" + show_in_parts(lay_out(block, footnotes));
  }
  if (table.blocks.empty()) text += "\nno results yet\n";
  if (!footnotes.notes().empty()) text += "\n";
  for (size_t i = 0; i < footnotes.notes().size(); ++i) {
    text += fmt::format("[{}] {}\n", i + 1, footnotes.notes()[i]);
  }
  return text;
}

}  // namespace proca::report
