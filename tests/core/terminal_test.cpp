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

}  // namespace
}  // namespace proca
