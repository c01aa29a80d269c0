#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proca {

/// Whether standard error is a terminal on which a line can be cleared and drawn again;
/// one that calls itself `dumb` is taken for a file.
bool is_on_terminal();

/// Whether what goes there may be coloured: not with `NO_COLOR` set to anything
/// (https://no-color.org).
bool may_use_colour();

/// Its width; 80 where that is unknown.
int64_t terminal_columns();

/// Text that names from files may be part of, as it may be shown: control characters, with which a
/// name could move the cursor or retitle the window, are written as `\x1b`. Line ends and tabs
/// stay.
std::string printable(std::string_view text);

/// The longest part of `text` that takes no more than `columns`, one for each character
/// of UTF-8, and ends before a comma if anything is cut off there.
std::string fit_to_columns(std::string_view text, int64_t columns);

}  // namespace proca
