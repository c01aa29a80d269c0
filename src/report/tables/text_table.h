#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace proca::report {

/// The widest line that a plain table may have.
inline constexpr int64_t kTableWidth = 80;

/// Characters as a terminal shows them: "±" is one, though it has two bytes.
int64_t display_width(const std::string& text);

/// With this number of decimals; "0.0" instead of "-0.0".
std::string show_number(double value, int64_t decimals);

/// Rows of cells as text: the first column to the left, the others to the right, each
/// as wide as its widest cell. Two blanks separate columns, one where two would make
/// the table wider than `width`. All rows have the same number of cells.
std::string text_table(const std::vector<std::vector<std::string>>& rows,
                       int64_t width = kTableWidth);

}  // namespace proca::report
