#include "core/files/csv.h"

#include <gtest/gtest.h>

namespace proca {
namespace {

using Row = std::vector<std::string>;

TEST(CsvTest, SplitsLinesIntoFields) {
  struct Case {
    std::string line;
    Row fields;
  };
  const std::vector<Case> cases = {
      {"", {""}},
      {"a", {"a"}},
      {"a,b c,3", {"a", "b c", "3"}},
      {",,", {"", "", ""}},
      {"a,", {"a", ""}},
      {"\"a\",b", {"a", "b"}},
      {"7,\"a, b\",", {"7", "a, b", ""}},
      {"\"\",x", {"", "x"}},
      {"\"say \"\"no\"\"\"", {"say \"no\""}},
      {"\"\"\"\"", {"\""}},
  };
  for (const auto& [line, fields] : cases) EXPECT_EQ(csv_fields(line), fields) << line;
}

TEST(CsvTest, RefusesQuotesOutOfPlace) {
  for (const auto* line : {"\"a", "a,\"b", "\"a\"b", "\"a\" ,b", "a\"b", "a\"\"", "\"\"\"", "\"",
                           " \"a\"", "x,\"a\"\"", "x\",y"}) {
    EXPECT_EQ(csv_fields(line), std::nullopt) << line;
  }
}

TEST(CsvTest, ReadsWhatItWrites) {
  for (const std::string text : {"", "plain", "a, b", "\"", "say \"no\", twice", ","}) {
    EXPECT_EQ(csv_fields(csv_field(text) + "," + csv_field("next")), (Row{text, "next"})) << text;
  }
}

}  // namespace
}  // namespace proca
