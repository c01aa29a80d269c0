#include "proca/config/options.h"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca {
namespace {

using test::message_of;
using Values = std::vector<std::string>;

enum class Fruit { kApple, kPear };

// One option of every type.
struct Fields {
  int64_t epochs = 100;
  double lr = 0.5;
  bool quick = false;
  std::string name = "run";
  Values tags = {"a", "b"};
  Fruit fruit = Fruit::kPear;
  int64_t cache = 4096;
  Values paths;
  OptionSet options;

  Fields() {
    options.bind("epochs", epochs, "passes over the images", 1, 1000);
    options.bind("lr", lr, "learning rate", 0.0, 10.0);
    options.bind("quick", quick, "less of everything");
    options.bind("name", name, "of the run");
    options.bind("tags", tags, "words to find it by", "WORD");
    options.bind_choice<Fruit>("fruit", fruit, "to eat",
                               {{"apple", Fruit::kApple}, {"pear", Fruit::kPear}});
    options.bind_bytes("cache", cache, "memory");
    options.bind_positional("path", paths, "images");
    options.require();
  }
  Fields(const Fields&) = delete;
};

std::string refusal(const Fields& fields, std::string_view name, const Values& values) {
  return message_of<InvalidOption>([&] { fields.options.assign(name, values); });
}

// What a TOML reader makes of a value: the texts that `assign` is given.
std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
    } else if (text[++i] == 'u') {
      result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 4)), nullptr, 16));
      i += 4;
    } else {
      result += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return result;
}

Values read_toml(std::string_view value) {
  if (value.front() != '"' && value.front() != '[') return {std::string(value)};
  Values texts;
  for (size_t begin = value.find('"'); begin != std::string_view::npos;) {
    size_t end = begin + 1;
    while (value[end] != '"') end += value[end] == '\\' ? 2 : 1;
    texts.push_back(unescaped(value.substr(begin + 1, end - begin - 1)));
    begin = value.find('"', end + 1);
  }
  return texts;
}

TEST(OptionSetTest, AFieldKeepsItsDefaultUntilItIsAssigned) {
  const Fields fields;
  EXPECT_EQ(fields.epochs, 100);
  EXPECT_EQ(fields.options.find("epochs")->toml(), "100");
}

TEST(OptionSetTest, EveryTypeIsParsed) {
  const Fields fields;
  fields.options.assign("epochs", {"20"});
  fields.options.assign("lr", {"2.5e-3"});
  fields.options.assign("quick", {"true"});
  fields.options.assign("name", {"my run"});
  fields.options.assign("tags", {"x", "y z", ""});
  fields.options.assign("fruit", {"apple"});
  fields.options.assign("cache", {"512M"});
  fields.options.assign("path", {"one", "two"});
  EXPECT_EQ(fields.epochs, 20);
  EXPECT_EQ(fields.lr, 2.5e-3);
  EXPECT_TRUE(fields.quick);
  EXPECT_EQ(fields.name, "my run");
  EXPECT_EQ(fields.tags, (Values{"x", "y z", ""}));
  EXPECT_EQ(fields.fruit, Fruit::kApple);
  EXPECT_EQ(fields.cache, 512 * 1024 * 1024);
  EXPECT_EQ(fields.paths, (Values{"one", "two"}));
}

TEST(OptionSetTest, AnOptionKnowsItsFacts) {
  Fields fields;
  fields.options.begin_section("method");
  double weight = 1;
  fields.options.bind("weight", weight, "of the loss", 0.0);
  const auto& epochs = *fields.options.find("epochs");
  EXPECT_EQ(epochs.help, "passes over the images");
  EXPECT_EQ(epochs.type, "INT");
  EXPECT_EQ(epochs.range, "1 to 1000");
  EXPECT_EQ(epochs.section, "");
  EXPECT_EQ(epochs.shape, Option::Shape::kValue);
  EXPECT_FALSE(epochs.required);
  EXPECT_EQ(fields.options.find("lr")->type, "FLOAT");
  EXPECT_EQ(fields.options.find("lr")->range, "0 to 10");
  EXPECT_EQ(fields.options.find("quick")->shape, Option::Shape::kSwitch);
  EXPECT_EQ(fields.options.find("name")->type, "TEXT");
  EXPECT_EQ(fields.options.find("tags")->type, "WORD");
  EXPECT_EQ(fields.options.find("tags")->shape, Option::Shape::kList);
  EXPECT_EQ(fields.options.find("fruit")->type, "apple|pear");
  EXPECT_EQ(fields.options.find("path")->shape, Option::Shape::kPositional);
  EXPECT_TRUE(fields.options.find("path")->required);
  EXPECT_EQ(fields.options.find("weight")->section, "method");
  EXPECT_EQ(fields.options.find("weight")->range, "at least 0");
  EXPECT_EQ(fields.options.find("height"), nullptr);
}

TEST(OptionSetTest, ARangeWithoutEndsHasNoText) {
  int64_t count = 0;
  double share = 0;
  OptionSet options;
  options.bind("any-count", count, "");
  options.bind("any-share", share, "");
  options.bind("low-count", count, "", std::numeric_limits<int64_t>::min(), 7);
  EXPECT_EQ(options.find("any-count")->range, "");
  EXPECT_EQ(options.find("any-share")->range, "");
  EXPECT_EQ(options.find("low-count")->range, "at most 7");
}

TEST(OptionSetTest, BothEndsOfARangeAreInIt) {
  const Fields fields;
  for (const char* good : {"1", "1000"}) EXPECT_NO_THROW(fields.options.assign("epochs", {good}));
  for (const char* good : {"0", "10", "-0.0", "1e1"}) {
    EXPECT_NO_THROW(fields.options.assign("lr", {good})) << good;
  }
}

TEST(OptionSetTest, PathsHaveOneSpellingAndOtherTextsStayAsTheyAre) {
  struct Case {
    const char* type;
    const char* given;
    const char* expected;
  };
  for (const auto& [type, given, expected] : {Case{"PATH", "./catalogue//", "catalogue"},
                                              {"DIR", "state/", "state"},
                                              {"FILE", "../d//x.pth", "../d/x.pth"},
                                              {"FILE", "-", "-"},
                                              {"DOMAIN", "amazon/", "amazon"},
                                              {"DIR", "", ""},
                                              {"DIR", ".", "."},
                                              {"DIR", "state-{seed}/", "state-{seed}"},
                                              {"PRESET", "office31-ci", "office31-ci"},
                                              {"PRESET", "./mine.toml", "mine.toml"},
                                              {"PRESET", "./office31-ci", "./office31-ci"},
                                              {"EXPERIMENT", "a//b.toml", "a/b.toml"},
                                              {"BACKBONE", "resnet50", "resnet50"},
                                              {"BACKBONE", "script:./a//b.pt", "script:a/b.pt"},
                                              {"TEXT", "./a//b/", "./a//b/"}}) {
    std::string one;
    std::vector<std::string> several, positional;
    OptionSet options;
    options.bind("one", one, "help", type);
    options.bind("several", several, "help", type);
    options.bind_positional("positional", positional, "help", type);
    options.assign("one", {given});
    options.assign_default("several", {given, given});
    options.assign("positional", {given});
    EXPECT_EQ(one, expected) << type << " " << given;
    EXPECT_EQ(several, std::vector<std::string>(2, expected)) << type << " " << given;
    EXPECT_EQ(positional, std::vector<std::string>{expected}) << type << " " << given;
  }
}

TEST(OptionSetTest, RefusesBadValuesNamingOptionValueAndRule) {
  const struct {
    std::string_view name;
    Values values;
    std::string_view message;
  } cases[] = {
      {"epochs", {"0"}, "--epochs: \"0\" is out of range: must be 1 to 1000"},
      {"epochs", {"1001"}, "--epochs: \"1001\" is out of range: must be 1 to 1000"},
      {"epochs", {""}, "--epochs: \"\" is not a whole number"},
      {"epochs", {"ten"}, "--epochs: \"ten\" is not a whole number"},
      {"epochs", {"10.0"}, "--epochs: \"10.0\" is not a whole number"},
      {"epochs", {"1e2"}, "--epochs: \"1e2\" is not a whole number"},
      {"epochs", {" 5"}, "--epochs: \" 5\" is not a whole number"},
      {"epochs", {"5 "}, "--epochs: \"5 \" is not a whole number"},
      {"epochs", {"0x10"}, "--epochs: \"0x10\" is not a whole number"},
      {"epochs",
       {"9223372036854775808"},
       "--epochs: \"9223372036854775808\" is too large or too small"},
      {"epochs", {}, "--epochs: takes one value, 0 given"},
      {"epochs", {"1", "2"}, "--epochs: takes one value, 2 given"},
      {"lr", {"-0.1"}, "--lr: \"-0.1\" is out of range: must be 0 to 10"},
      {"lr", {"10.000001"}, "--lr: \"10.000001\" is out of range: must be 0 to 10"},
      {"lr", {"inf"}, "--lr: \"inf\" is out of range: must be 0 to 10"},
      {"lr", {"-inf"}, "--lr: \"-inf\" is out of range: must be 0 to 10"},
      {"lr", {"nan"}, "--lr: \"nan\" is not a number"},
      {"lr", {"fast"}, "--lr: \"fast\" is not a number"},
      {"lr", {"1,5"}, "--lr: \"1,5\" is not a number"},
      {"lr", {"1e999"}, "--lr: \"1e999\" is too large or too small"},
      {"quick", {"yes"}, "--quick: \"yes\" must be true or false"},
      {"quick", {"True"}, "--quick: \"True\" must be true or false"},
      {"quick", {}, "--quick: takes one value, 0 given"},
      {"name", {"a", "b"}, "--name: takes one value, 2 given"},
      {"fruit", {"plum"}, "--fruit: \"plum\" is not one of apple, pear"},
      {"fruit", {"Apple"}, "--fruit: \"Apple\" is not one of apple, pear"},
      {"fruit", {""}, "--fruit: \"\" is not one of apple, pear"},
  };
  for (const auto& [name, values, message] : cases) {
    const Fields fields;
    EXPECT_EQ(refusal(fields, name, values), message);
  }
}

TEST(OptionSetTest, ARefusedValueLeavesTheFieldAlone) {
  const Fields fields;
  refusal(fields, "epochs", {"0"});
  refusal(fields, "lr", {"nan"});
  refusal(fields, "fruit", {"plum"});
  refusal(fields, "cache", {"1X"});
  EXPECT_EQ(fields.epochs, 100);
  EXPECT_EQ(fields.lr, 0.5);
  EXPECT_EQ(fields.fruit, Fruit::kPear);
  EXPECT_EQ(fields.cache, 4096);
}

TEST(OptionSetTest, WithoutARangeInfinityIsANumberAndNanIsNone) {
  double value = 0;
  OptionSet options;
  options.bind("limit", value, "");
  options.assign("limit", {"inf"});
  EXPECT_EQ(value, INFINITY);
  options.assign("limit", {"-inf"});
  EXPECT_EQ(value, -INFINITY);
  EXPECT_EQ(message_of<InvalidOption>([&] { options.assign("limit", {"nan"}); }),
            "--limit: \"nan\" is not a number");
}

TEST(OptionSetTest, BytesHaveSuffixesOfPowersOf1024) {
  const struct {
    std::string text;
    int64_t bytes;
  } cases[] = {
      {"0", 0},
      {"1500000", 1500000},
      {"64K", 65536},
      {"512M", 1 << 29},
      {"4G", int64_t{4} << 30},
      {"2T", int64_t{2} << 40},
      {"0G", 0},
      {"1K", 1024},
      {"8388607T", int64_t{8388607} << 40},
      {"9223372036854775807", 9223372036854775807LL},
  };
  for (const auto& [text, bytes] : cases) {
    const Fields fields;
    fields.options.assign("cache", {text});
    EXPECT_EQ(fields.cache, bytes) << text;
  }
}

TEST(OptionSetTest, RefusesBytesThatAreNoneOrTooMany) {
  const Fields fields;
  for (const char* bad : {"", "G", "four", "4g", "4GB", "1.5G", "-1", "-4K", "4 G", "K4"}) {
    EXPECT_EQ(refusal(fields, "cache", {bad}),
              std::string("--cache: \"") + bad + "\" is not a number of bytes such as 512M or 4G");
  }
  // 8388608T is 2^63, one more than there is room for.
  for (const char* bad : {"8388608T", "9223372036854775808", "9999999999999999999999K"}) {
    EXPECT_EQ(refusal(fields, "cache", {bad}),
              std::string("--cache: \"") + bad + "\" is too large or too small");
  }
}

TEST(OptionSetTest, BytesMayBeLeftToTheProgram) {
  std::optional<int64_t> room = 5;
  OptionSet options;
  options.bind_auto_bytes("room", room, "memory");
  EXPECT_EQ(options.find("room")->type, "auto|BYTES");
  EXPECT_EQ(options.to_toml(), "room = 5\n");
  options.assign("room", {"auto"});
  EXPECT_EQ(room, std::nullopt);
  EXPECT_EQ(options.to_toml(), "room = \"auto\"\n");
  options.assign("room", {"2K"});
  EXPECT_EQ(room, 2048);
  EXPECT_EQ(message_of<InvalidOption>([&] { options.assign("room", {"automatic"}); }),
            "--room: \"automatic\" is not a number of bytes such as 512M or 4G");
  EXPECT_EQ(room, 2048);
}

TEST(OptionSetTest, ASwitchCanBeClearedAgain) {
  const Fields fields;
  fields.options.assign("quick", {"true"});
  fields.options.assign("quick", {"false"});
  EXPECT_FALSE(fields.quick);
}

TEST(OptionSetTest, AnUnknownNameSuggestsTheNearest) {
  const Fields fields;
  EXPECT_EQ(refusal(fields, "epoch", {"1"}), "unknown option \"epoch\"; did you mean \"epochs\"?");
  EXPECT_EQ(refusal(fields, "colour", {"1"}), "unknown option \"colour\"");
}

TEST(OptionSetTest, ANameCannotBeDeclaredTwice) {
  Fields fields;
  EXPECT_THROW(fields.options.bind("epochs", fields.lr, ""), std::logic_error);
  EXPECT_THROW(fields.options.bind_bytes("name", fields.cache, ""), std::logic_error);
  fields.options.begin_section("method");
  EXPECT_THROW(fields.options.bind("lr", fields.lr, ""), std::logic_error);
}

TEST(OptionSetTest, TheDefaultOfAChoiceMustBeOneOfItsWords) {
  OptionSet options;
  Fruit fruit = Fruit::kPear;
  EXPECT_THROW(options.bind_choice<Fruit>("fruit", fruit, "", {{"apple", Fruit::kApple}}),
               std::logic_error);
}

TEST(OptionSetTest, TomlHasTheTopLevelFirstAndEachTableOnce) {
  int64_t epochs = 3;
  double lr = 1, weight = 1e-7, margin = 1e20;
  std::string name = "x";
  OptionSet options;
  options.bind("epochs", epochs, "");
  options.begin_section("method");
  options.bind("weight", weight, "");
  options.begin_section("");
  options.bind("lr", lr, "");
  options.begin_section("export");
  options.bind("name", name, "");
  options.begin_section("method");
  options.bind("margin", margin, "");
  EXPECT_EQ(options.to_toml(),
            "epochs = 3\n"
            "lr = 1.0\n"
            "\n[method]\n"
            "weight = 1e-07\n"
            "margin = 1e+20\n"
            "\n[export]\n"
            "name = \"x\"\n");
}

TEST(OptionSetTest, OfNothingIsAnEmptyDocument) { EXPECT_EQ(OptionSet().to_toml(), ""); }

TEST(OptionSetTest, AssigningWhatTomlShowsGivesTheSameValue) {
  const struct {
    std::string_view name;
    Values values;
  } cases[] = {
      {"epochs", {"1"}},
      {"lr", {"0"}},
      {"lr", {"0.1"}},
      {"lr", {"0.30000000000000004"}},
      {"lr", {"4.9406564584124654e-324"}},
      {"quick", {"true"}},
      {"quick", {"false"}},
      {"name", {""}},
      {"name", {"a \"quoted\" word, a back\\slash, # and = and [x]"}},
      {"name", {"line\nline\ttab\rreturn\x01\x7f"}},
      {"name", {"Grüße/写真"}},
      {"tags", {}},
      {"tags", {""}},
      {"tags", {"a, b", "\"]", "\\"}},
      {"fruit", {"apple"}},
      {"cache", {"4G"}},
      {"path", {"one", "two words"}},
  };
  for (const auto& [name, values] : cases) {
    const Fields first, second;
    first.options.assign(name, values);
    const auto shown = first.options.find(name)->toml();
    second.options.assign(name, read_toml(shown));
    EXPECT_EQ(second.lr, first.lr) << shown;
    EXPECT_EQ(second.name, first.name) << shown;
    EXPECT_EQ(second.tags, first.tags) << shown;
    EXPECT_EQ(second.options.to_toml(), first.options.to_toml());
  }
}

TEST(TomlStringTest, EscapesWhatTomlForbids) {
  EXPECT_EQ(toml_string(""), "\"\"");
  EXPECT_EQ(toml_string("a/b c"), "\"a/b c\"");
  EXPECT_EQ(toml_string("\"\\\n"), "\"\\\"\\\\\\n\"");
  EXPECT_EQ(toml_string("\r\x1f\x7f"), "\"\\u000d\\u001f\\u007f\"");
  EXPECT_EQ(toml_string("ü"), "\"ü\"");
}

}  // namespace
}  // namespace proca
