#include "config/toml.h"

#include <gtest/gtest.h>

#include "proca/config/options.h"
#include "support/message_of.h"

namespace proca {
namespace {

using Values = std::vector<std::string>;

TomlEntry only(const std::string& text) {
  const auto entries = parse_toml(text, "a.toml");
  EXPECT_EQ(entries.size(), 1u) << text;
  return entries.empty() ? TomlEntry{} : entries.front();
}

TEST(ParseTomlTest, ReadsEveryKindOfValue) {
  struct Case {
    std::string toml;
    Values values;
  };
  const std::vector<Case> cases = {
      {"k = 3", {"3"}},
      {"k=3", {"3"}},
      {"k = -0.5e-3  # comment", {"-0.5e-3"}},
      {"k = +1_000", {"1000"}},
      {"k = inf", {"inf"}},
      {"k = [0.1, 1e-3, +1_0.5, -inf] # 4.0", {"0.1", "1e-3", "10.5", "-inf"}},
      {"k = [\"\xc3\xa9.\", 2.50]", {"\xc3\xa9.", "2.50"}},
      {"k = 0xff", {"255"}},
      {"k = \"\"\"a\nb\"\"\"", {"a\nb"}},
      {"k = true", {"true"}},
      {"k = \"\"", {""}},
      {"k = \"3\"", {"3"}},
      {"k = \"a # b, [c] = 'd' \\\"e\\\" \\\\ \\t\\n\"", {"a # b, [c] = 'd' \"e\" \\ \t\n"}},
      {"k = 'C:\\new # \"x\"'", {"C:\\new # \"x\""}},
      {"k = \"\\u0001 \\u00e9 \\u20ac \\U0001f600\"",
       {"\x01 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"}},
      {"k = []", {}},
      {"k = [ ]", {}},
      {"k = [1]", {"1"}},
      {"k = [1, 2,3]", {"1", "2", "3"}},
      {"k = [\"a, b\", 'c', \"]\",]", {"a, b", "c", "]"}},
      {"k = [ 1 , 2 , ]  # comment ]", {"1", "2"}},
      {"k = [  # why [\n  \"a\",  # first, \"\n\n  \"b\"\n]", {"a", "b"}},
      {"k = [\"a\",\r\n  \"b\",\r\n]\r\n", {"a", "b"}},
      {"\xef\xbb\xbfk = 1\n", {"1"}},
  };
  for (const auto& [toml, values] : cases) {
    const auto entry = only(toml);
    EXPECT_EQ(entry.key, "k") << toml;
    EXPECT_EQ(entry.section, "") << toml;
    EXPECT_EQ(entry.values, values) << toml;
    EXPECT_EQ(entry.line, 1) << toml;
  }
}

TEST(ParseTomlTest, RefusesWhatIsNotTomlWithItsLine) {
  struct Case {
    std::string toml;
    int line = 1;
  };
  for (const auto& [toml, line] : std::vector<Case>{
           {"k"},
           {"\nk =", 2},
           {"k = # 3"},
           {"= 3"},
           {"a. = 3"},
           {"a b = 3"},
           {"k = word"},
           {"k = 3px"},
           {"k = 1 2"},
           {"k = 1, 2"},
           {"k = \"a\" \"b\""},
           {"k = 1 = 2"},
           {"k = [1] 2"},
           {"k = [1 2]"},
           {"k = [1,, 2]"},
           {"k = [\"a\" \"b\"]"},
           {"k = \"a\"0"},
           {"k = 9223372036854775808"},
           {"\nk = [1,\n2\n", 3},
           {"k = [1,\n2\nl = [3]", 3},
           {"k = \"a\nl = 2"},
           {"k = [\n'a\n]", 2},
           {"k = \"a\\"},
           {"k = \"\\d\""},
           {"k = \"\\u12\""},
           {"k = \"\\ud800\""},
           {"k = \"a\x01\""},
           {"k = \"a\xff\""},
           {"[a"},
           {"[a] b = 1"},
           {"[]"},
           {"x = 1\ny = 2\nx = 3\n", 3},
           {"[a]\nx = 1\nx = 1\n", 3},
           {"a.x = 1\n[a]\nx = 1\n", 2},
           {"[a]\n[b]\n[a]\n", 3},
       }) {
    const auto message = test::message_of([&] { parse_toml(toml, "a.toml"); });
    const auto expected = "a.toml:" + std::to_string(line) + ": is not valid TOML: ";
    EXPECT_TRUE(message.starts_with(expected) && message.size() > expected.size())
        << toml << " -> " << message;
  }
}

TEST(ParseTomlTest, RefusesWhatNoOptionTakes) {
  const auto message = [](const std::string& toml) {
    return test::message_of([&] { parse_toml(toml, "a.toml"); });
  };
  const std::string begin = "a.toml:2: is not valid TOML: ";
  EXPECT_EQ(message("a = 1\nk = [[1], [2]]"),
            begin + "arrays of arrays or tables are not supported");
  EXPECT_EQ(message("\n[[a]]"), begin + "arrays of arrays or tables are not supported");
  EXPECT_EQ(message("\nk = 2020-01-02"), begin + "dates and times are not supported");
}

TEST(ParseTomlTest, TablesAndDottedKeysGiveTheSection) {
  const auto entries = parse_toml(
      "top = 1\n"
      "\n"
      "[pretrain]   # with a comment\n"
      "epochs = 100\n"
      "[ task . \"Real World\".Art ]\n"
      "order = [\n"
      "  1,\n"
      "]\n"
      "\"a key\" = 2\n"
      "deep.er = 3\n"
      "[default]\n"
      "epochs = 5\n",
      "a.toml");
  ASSERT_EQ(entries.size(), 6u);
  const std::vector<std::pair<std::string, std::string>> names = {
      {"", "top"},
      {"pretrain", "epochs"},
      {"task.Real World.Art", "order"},
      {"task.Real World.Art", "a key"},
      {"task.Real World.Art.deep", "er"},
      {"default", "epochs"}};
  const std::vector<int64_t> lines = {1, 4, 6, 9, 10, 12};
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].section, names[i].first);
    EXPECT_EQ(entries[i].key, names[i].second);
    EXPECT_EQ(entries[i].line, lines[i]) << entries[i].key;
  }
}

TEST(ParseTomlTest, SameKeyInTwoTablesKeepsBothLines) {
  const auto entries = parse_toml("[a]\nx = 1\n\n[b]\n# x = 7\nx = 2\n", "a.toml");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[0].values, Values{"1"});
  EXPECT_EQ(entries[1].line, 6);
  EXPECT_EQ(entries[1].values, Values{"2"});
}

TEST(ParseTomlTest, RefusesWhatIsBeyondTheLimits) {
  const TomlLimits limits{
      .max_bytes = 20, .max_string_bytes = 3, .max_elements = 4, .max_name_words = 2};
  const auto parse = [&](const std::string& text) { return parse_toml(text, "a.toml", limits); };
  const std::string begin = "a.toml:1: is not valid TOML: ";
  EXPECT_EQ(parse("k = \"abc\"").size(), 1u);
  EXPECT_EQ(test::message_of([&] { parse("k = \"abcd\""); }),
            begin + "the string has 4 bytes; 3 are allowed");
  EXPECT_EQ(test::message_of([&] { parse("k = 'abcd'"); }),
            begin + "the string has 4 bytes; 3 are allowed");
  EXPECT_EQ(parse("k = [1, 2, 3, 4]").at(0).values.size(), 4u);
  EXPECT_EQ(parse("k = [1, 2, 3, 4,]").at(0).values.size(), 4u);
  for (const auto* text : {"k = [1,2,3,4,5]", "k = [1,2,3,4,5,6]"}) {
    EXPECT_EQ(test::message_of([&] { parse(text); }), begin + "the array has more than 4 elements");
  }
  EXPECT_EQ(parse("a.b = 1").at(0).section, "a");
  EXPECT_EQ(test::message_of([&] { parse("a.b.c = 1"); }), begin + "a name has more than 2 words");
  EXPECT_EQ(test::message_of([&] { parse("[a.b.c]"); }), begin + "a name has more than 2 words");
  EXPECT_EQ(parse("k = 1 # 456789012345").size(), 1u);
  EXPECT_EQ(test::message_of([&] { parse("k = 1 # 4567890123456"); }),
            "a.toml: has 21 bytes; a TOML file may have 20");
  std::string deep = "k";
  for (int i = 0; i < 100'000; ++i) deep += ".k";
  EXPECT_EQ(test::message_of([&] { parse_toml("\n" + deep + " = 1", "a.toml"); }),
            "a.toml:2: is not valid TOML: the line has more than 2048 dots");
  // Those of strings do not nest.
  std::string names = "k = [";
  for (int i = 0; i < 3'000; ++i) names += "\"it's " + std::to_string(i) + ".jpg\", ";
  EXPECT_EQ(parse_toml(names + "]", "a.toml").at(0).values.size(), 3'000u);
  EXPECT_EQ(test::message_of([&] { parse_toml("''' \" '''\n" + deep + " = 1", "a.toml"); }),
            "a.toml:2: is not valid TOML: the line has more than 2048 dots");
}

// As the program prints its options.
TEST(ParseTomlTest, AValueAndATableMayHaveOneName) {
  EXPECT_EQ(parse_toml("method = \"a\"\n \t[method]\nk = 1\n", "a.toml").size(), 2u);
  EXPECT_NE(test::message_of([] {
              parse_toml("method = \"a\"\n[[method]]\nk = 1\n", "a.toml");
            }).find("a.toml:2: is not valid TOML: "),
            std::string::npos);
  const auto entries = parse_toml("method = \"proca\"\n[method]\nalpha = 0.1\n", "a.toml");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].section, "");
  EXPECT_EQ(entries[0].key, "method");
  EXPECT_EQ(entries[1].section, "method");
  EXPECT_EQ(entries[1].key, "alpha");
  EXPECT_EQ(entries[1].values, Values{"0.1"});
  EXPECT_EQ(entries[1].line, 3);
}

TEST(ParseTomlTest, GivesTheEntriesInTheOrderOfTheDocument) {
  const auto entries = parse_toml("z = 1.5\ny = {b = 2.5, a = 3.5}\na = 4.5\n", "a.toml");
  ASSERT_EQ(entries.size(), 4u);
  const std::vector<std::string> keys = {"z", "b", "a", "a"}, values = {"1.5", "2.5", "3.5", "4.5"};
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].key, keys[i]);
    EXPECT_EQ(entries[i].values, Values{values[i]});
  }
  EXPECT_EQ(entries[1].section, "y");
}

TEST(ParseTomlTest, NothingIsAnEmptyDocument) {
  EXPECT_TRUE(parse_toml("", "a.toml").empty());
  EXPECT_TRUE(parse_toml("\n# only a \"comment\n\n  \t\n[table]\n", "a.toml").empty());
}

TEST(ParseTomlTest, ReadsWhatOptionsPrint) {
  std::string text = "tab\tquote\" slash\\ line\n bell\a";
  std::vector<std::string> list = {"a,b", "", "#"};
  double number = -1e-30;
  OptionSet options;
  options.bind("text", text, "");
  options.bind("list", list, "");
  options.begin_section("method");
  options.bind("number", number, "");
  const auto entries = parse_toml(options.to_toml(), "printed");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].values, Values{text});
  EXPECT_EQ(entries[1].values, list);
  EXPECT_EQ(entries[2].section, "method");
  EXPECT_EQ(std::stod(entries[2].values.at(0)), number);
}

}  // namespace
}  // namespace proca
