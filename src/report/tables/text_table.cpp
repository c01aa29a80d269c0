#include "report/tables/text_table.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace proca::report {

int64_t display_width(const std::string& text) {
  // Bytes that continue a UTF-8 character begin with the bits 10.
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
}

std::string show_number(double value, int64_t decimals) {
  const auto text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-')
             ? text.substr(1)
             : text;
}

std::string text_table(const std::vector<std::vector<std::string>>& rows, int64_t width) {
  std::vector<int64_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  int64_t total = 2 * (static_cast<int64_t>(widths.size()) - 1);
  for (const auto column : widths) total += column;
  const std::string separator = total <= width ? "  " : " ";

  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(static_cast<size_t>(widths[i] - display_width(row[i])), ' ');
      line += i == 0 ? row[i] + padding : separator + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace proca::report
