#include "core/terminal.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace proca {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Every byte but the further ones of a character.
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

bool is_on_terminal() {
  if (isatty(STDERR_FILENO) == 0) return false;
  const char* kind = std::getenv("TERM");
  return kind == nullptr || std::string_view(kind) != "dumb";
}

bool may_use_colour() { return is_on_terminal() && !is_set("NO_COLOR"); }

int64_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    // U+0080 to U+009F, which terminals obey, too.
    const bool is_wide_control = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (is_wide_control) {
      shown += fmt::format("\\x{:02x}", next);
      ++i;
    } else if (byte == 0x7f || (byte < 0x20 && byte != '\n' && byte != '\t')) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string fit_to_columns(std::string_view text, int64_t columns) {
  size_t end = 0;
  int64_t taken = 0;
  for (; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++taken > columns) break;
  }
  if (end == text.size()) return std::string(text);
  // A number that is cut off would be read as another one.
  const auto comma = text.rfind(", ", end);
  return std::string(text.substr(0, comma == std::string_view::npos ? end : std::min(comma, end)));
}

}  // namespace proca
