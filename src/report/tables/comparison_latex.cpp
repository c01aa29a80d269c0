#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

std::string escape_latex(const std::string& text) {
  // The first that matches; what no pattern matches stays as it is.
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"->", "$\\to$"}, {"±", "$\\pm$"},
      {"&", "\\&"},     {"%", "\\%"},
      {"_", "\\_"},     {"#", "\\#"},
      {"$", "\\$"},     {"{", "\\{"},
      {"}", "\\}"},     {"<", "$<$"},
      {">", "$>$"},     {"~", "\\~{}"},
      {"^", "\\^{}"},   {"\\", "\\textbackslash{}"},
  };
  std::string escaped;
  for (size_t i = 0; i < text.size();) {
    const auto rest = std::string_view(text).substr(i);
    const auto* escape =
        std::find_if(std::begin(kEscapes), std::end(kEscapes),
                     [&](const auto& known) { return rest.starts_with(known.first); });
    const bool is_special = escape != std::end(kEscapes);
    escaped += is_special ? escape->second : rest.substr(0, 1);
    i += is_special ? escape->first.size() : 1;
  }
  return escaped;
}

// A number whose minus is one.
std::string escape_number(const std::string& text) {
  return text.starts_with('-') && text != kMissing ? "$-$" + escape_latex(text.substr(1))
                                                   : escape_latex(text);
}

std::string show_block(const TableBlock& block, Footnotes& footnotes) {
  constexpr const char* kNames[] = {"ours", "paper", "difference"};
  const bool with_paper = has_paper(block);
  auto text = fmt::format("% {}\n\\begin{{tabular}}{{l{}{}}}\n\\toprule\n", block.title,
                          with_paper ? "l" : "", std::string(block.columns.size(), 'r'));
  if (with_paper) text += " &";
  for (const auto& column : block.columns) text += " & " + escape_latex(column);
  text += " \\\\\n\\midrule\n";
  bool is_first = true;
  for (const auto& row : shown_rows(block, footnotes)) {
    if (row.kind == ShownRow::kOurs && with_paper && !is_first) text += "\\addlinespace\n";
    is_first = false;
    if (row.kind == ShownRow::kOurs) text += escape_latex(row.label);
    if (with_paper) text += fmt::format(" & {}", kNames[row.kind]);
    for (const auto& [shown, is_best, note] : row.cells) {
      const auto cell = escape_number(shown);
      text += " & " + (is_best ? "\\textbf{" + cell + "}" : cell);
      if (note > 0) text += fmt::format("$^{{{}}}$", note);
    }
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

std::string to_latex(const ComparisonTable& table) {
  auto text = fmt::format("% {}{}\n% \\usepackage{{booktabs}}\n", table.title,
                          table.paper.empty() ? "" : " (paper: " + table.paper + ")");
  if (const auto seeds = describe_seeds(table); !seeds.empty()) text += "% " + seeds + "\n";
  Footnotes footnotes;
  for (const auto& block : table.blocks) text += fmt::format("\n{}", show_block(block, footnotes));
  for (size_t i = 0; i < footnotes.notes().size(); ++i) {
    text += fmt::format("{}\\par {{\\footnotesize $^{{{}}}$ {}}}\n", i == 0 ? "\n" : "", i + 1,
                        escape_latex(footnotes.notes()[i]));
  }
  return text;
}

}  // namespace proca::report
