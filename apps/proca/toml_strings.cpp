#include "toml_strings.h"

#include <string_view>

namespace proca::app {
namespace {

// Character i of the first stands for character i of the second. Control
// characters cannot stand in a TOML string themselves.
constexpr std::string_view kStandIns = "\x01\x02\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12";
constexpr std::string_view kOriginals = "#\"\\, []=';\n\t";

char stand_in(char c) {
  const auto place = kOriginals.find(c);
  return place == std::string_view::npos ? c : kStandIns[place];
}

char unescaped(char c) {
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  return c;
}

}  // namespace

std::string guard_strings(const std::string& toml) {
  std::string guarded;
  char quote = 0;
  bool comment = false;
  for (size_t i = 0; i < toml.size(); ++i) {
    const char c = toml[i];
    if (c == '\n') {
      comment = false;
      quote = 0;  // A string ends with its line; CLI11 says what is wrong with it.
      guarded += c;
    } else if (comment) {
      guarded += c;
    } else if (quote == 0) {
      comment = c == '#';
      if (c == '"' || c == '\'') quote = c;
      guarded += c;
    } else if (c == quote) {
      quote = 0;
      guarded += c;
    } else if (c == '\\' && quote == '"' && i + 1 < toml.size()) {
      guarded += stand_in(unescaped(toml[++i]));
    } else {
      guarded += stand_in(c);
    }
  }
  return guarded;
}

std::string unguard(const std::string& value) {
  auto text = value;
  for (auto& c : text) {
    const auto place = kStandIns.find(c);
    if (place != std::string_view::npos) c = kOriginals[place];
  }
  return text;
}

}  // namespace proca::app
