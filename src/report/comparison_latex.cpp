#include <cmath>

#include <fmt/format.h>

#include "comparison_cells.h"
#include "proca/report/comparison_table.h"

namespace proca::report {
namespace {

std::string escape(const std::string& text) {
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
  return text.starts_with('-') && text != kMissing ? "$-$" + escape(text.substr(1)) : escape(text);
}

class Bests {
 public:
  explicit Bests(const TableBlock& block) : block_(block) {}

  // Whether no cell that it is compared with is better, as shown; one that is alone is
  // not the best of anything.
  bool is_best(size_t row, size_t column) const {
    const auto own = value(row, column);
    if (!own || block_.best == Best::kNone) return false;
    const bool by_row = block_.best == Best::kHighestOfRow;
    const auto size = by_row ? block_.columns.size() : block_.rows.size();
    int64_t num_others = 0;
    for (size_t i = 0; i < size; ++i) {
      const auto other = by_row ? value(row, i) : value(i, column);
      if (!other || i == (by_row ? column : row)) continue;
      ++num_others;
      if (*other > *own) return false;
    }
    return num_others > 0;
  }

 private:
  // Higher is better; rounded as it is shown, so that equals are equal.
  std::optional<double> value(size_t row, size_t column) const {
    const auto& mean = block_.rows[row].cells[column].mean;
    if (!mean) return std::nullopt;
    const auto unit = std::pow(10.0, static_cast<double>(block_.decimals));
    return std::round(*mean * unit) * (block_.best == Best::kLowestOfColumn ? -1 : 1);
  }

  const TableBlock& block_;
};

std::string show_block(const TableBlock& block, Footnotes& footnotes) {
  const bool with_paper = has_paper(block);
  const Bests bests(block);
  auto text = fmt::format("% {}\n\\begin{{tabular}}{{l{}{}}}\n\\toprule\n", block.title,
                          with_paper ? "l" : "", std::string(block.columns.size(), 'r'));
  if (with_paper) text += " &";
  for (const auto& column : block.columns) text += " & " + escape(column);
  text += " \\\\\n\\midrule\n";
  for (size_t row = 0; row < block.rows.size(); ++row) {
    const auto& cells = block.rows[row].cells;
    std::string ours = escape(block.rows[row].label) + (with_paper ? " & ours" : "");
    std::string paper = " & paper", difference = " & difference";
    for (size_t column = 0; column < cells.size(); ++column) {
      const auto shown = escape_number(show_ours(cells[column], block.decimals));
      const auto note = footnotes.number_of(cells[column]);
      ours += " & " + (bests.is_best(row, column) ? "\\textbf{" + shown + "}" : shown);
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
                        escape(footnotes.notes()[i]));
  }
  return text;
}

}  // namespace proca::report
