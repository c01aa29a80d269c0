#include <fmt/format.h>

#include "report/tables/comparison_cells.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

std::string escape_latex(const std::string& text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("->")) {
      escaped += "$\\to$";
      ++i;
    } else if (rest.starts_with("±")) {
      escaped += "$\\pm$";
      i += std::string_view("±").size() - 1;
    } else if (std::string_view("&%_#${}").find(text[i]) != std::string_view::npos) {
      escaped += '\\';
      escaped += text[i];
    } else if (text[i] == '<' || text[i] == '>') {
      escaped += fmt::format("${}$", text[i]);
    } else if (text[i] == '\\') {
      escaped += "\\textbackslash{}";
    } else if (text[i] == '~' || text[i] == '^') {
      escaped += fmt::format("\\{}{{}}", text[i]);
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

// A number whose minus is one.
std::string escape_number(const std::string& text) {
  return text.starts_with('-') && text != kMissing ? "$-$" + escape_latex(text.substr(1))
                                                   : escape_latex(text);
}

std::string show_block(const TableBlock& block, Footnotes& footnotes) {
  const bool with_paper = has_paper(block);
  auto text = fmt::format("% {}\n\\begin{{tabular}}{{l{}{}}}\n\\toprule\n", block.title,
                          with_paper ? "l" : "", std::string(block.columns.size(), 'r'));
  if (with_paper) text += " &";
  for (const auto& column : block.columns) text += " & " + escape_latex(column);
  text += " \\\\\n\\midrule\n";
  for (size_t row = 0; row < block.rows.size(); ++row) {
    const auto& cells = block.rows[row].cells;
    std::string ours = escape_latex(block.rows[row].label) + (with_paper ? " & ours" : "");
    std::string paper = " & paper", difference = " & difference";
    for (size_t column = 0; column < cells.size(); ++column) {
      const auto shown = escape_number(show_ours(cells[column], block.decimals));
      const auto note = footnotes.number_of(cells[column]);
      ours += " & " + (is_best(block, row, column) ? "\\textbf{" + shown + "}" : shown);
      paper += " & " + escape_number(show_paper(cells[column], block.decimals)) +
               (note > 0 ? fmt::format("$^{{{}}}$", note) : "");
      difference += " & " + escape_number(show_difference(cells[column], block.decimals));
    }
    if (row > 0 && with_paper) text += "\\addlinespace\n";
    text += ours + " \\\\\n";
    if (with_paper) text += paper + " \\\\\n";
    if (has_difference(block.rows[row])) text += difference + " \\\\\n";
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
