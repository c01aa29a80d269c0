#include "core/terminal.h"

#include <gtest/gtest.h>

namespace proca {
namespace {

TEST(FitToColumnsTest, CutsBeforeAComma) {
  const struct {
    std::string_view text;
    int64_t columns;
    std::string_view fitted;
  } cases[] = {
      {"", 5, ""},
      {"short", 80, "short"},
      {"short", 5, "short"},
      {"short", 4, "shor"},
      {"short", 0, ""},
      {"a 0.5, b 0.25", 13, "a 0.5, b 0.25"},
      {"a 0.5, b 0.25", 12, "a 0.5"},
      {"a 0.5, b 0.25", 6, "a 0.5"},
      {"a 0.5, b 0.25", 5, "a 0.5"},
      {"a 0.5, b 0.25", 4, "a 0."},
      // One column for a character of two bytes; none is cut in half.
      {"ααα", 3, "ααα"},
      {"ααα", 2, "αα"},
  };
  for (const auto& [text, columns, fitted] : cases) {
    EXPECT_EQ(fit_to_columns(text, columns), fitted) << text << ", " << columns;
  }
}

TEST(PrintableTest, WritesControlCharactersOut) {
  const struct {
    std::string_view text, shown;
  } cases[] = {
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
      {"a\rb\bc\x7f", "a\\x0db\\x08c\\x7f"},
      {{"\0", 1}, "\\x00"},
      {"\xc2\x9b"
       "2J",
       "\\x9b2J"},  // U+009B begins a sequence as ESC [ does
      {"two\nlines\tand a tab", "two\nlines\tand a tab"},
      {"Gl\xc3\xbc"
       "ck \xc2\xa0\xe2\x86\x92",
       "Gl\xc3\xbc"
       "ck \xc2\xa0\xe2\x86\x92"},
      {"\xc2", "\xc2"},
      {"", ""},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(printable(text), shown);
}

}  // namespace
}  // namespace proca
