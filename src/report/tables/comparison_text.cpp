#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"
#include "report/tables/text_table.h"

namespace proca::report {
namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr int64_t kTextWidth = 100;

// The block as cells of text, and how many of its columns lead each part.
struct Layout {
  Lines lines;
  size_t num_leading = 1;
};

Layout lay_out(const TableBlock& block, Footnotes& footnotes) {
  constexpr const char* kNames[] = {"ours", "paper", "diff"};
  Layout layout;
  const bool with_paper = has_paper(block);
  layout.num_leading = with_paper ? 2 : 1;
  auto& header = layout.lines.emplace_back(layout.num_leading);
  header.insert(header.end(), block.columns.begin(), block.columns.end());
  for (const auto& row : shown_rows(block, footnotes)) {
    auto& line = layout.lines.emplace_back();
    line.push_back(row.kind == ShownRow::kOurs ? row.label : "");
    if (with_paper) line.emplace_back(kNames[row.kind]);
    for (const auto& [text, is_best, note] : row.cells) {
      line.push_back(note > 0 ? fmt::format("{} [{}]", text, note) : text);
    }
  }
  return layout;
}

int64_t width_of_column(const Lines& lines, size_t column) {
  int64_t width = 0;
  for (const auto& line : lines) width = std::max(width, display_width(line[column]));
  return width;
}

// The first column of each part, and the end of the last: as many at a time as fit
// behind the leading ones, at least one and not more than `most`.
std::vector<size_t> divide(const Layout& layout, size_t most) {
  int64_t leading = 0;
  for (size_t i = 0; i < layout.num_leading; ++i) leading += width_of_column(layout.lines, i) + 2;
  std::vector<size_t> bounds = {layout.num_leading};
  int64_t width = leading - 2;
  for (size_t i = layout.num_leading; i < layout.lines.front().size(); ++i) {
    const auto more = width_of_column(layout.lines, i) + 2;
    const auto taken = i - bounds.back();
    if (taken == most || (taken > 0 && width + more > kTextWidth)) {
      bounds.push_back(i);
      width = leading - 2;
    }
    width += more;
  }
  bounds.push_back(layout.lines.front().size());
  return bounds;
}

std::string show_in_parts(const Layout& layout) {
  const auto num_columns = layout.lines.front().size() - layout.num_leading;
  if (num_columns == 0) return text_table(layout.lines, kTextWidth);
  // As few parts as possible, and then of about the same size.
  const auto num_parts = divide(layout, num_columns).size() - 1;
  const auto bounds = divide(layout, (num_columns + num_parts - 1) / num_parts);
  std::vector<std::string> parts;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    Lines part;
    for (const auto& line : layout.lines) {
      const auto at = [&](size_t column) {
        return line.begin() + static_cast<std::ptrdiff_t>(column);
      };
      auto& cells = part.emplace_back(line.begin(), at(layout.num_leading));
      cells.insert(cells.end(), at(bounds[i]), at(bounds[i + 1]));
    }
    parts.push_back(text_table(part, kTextWidth));
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
