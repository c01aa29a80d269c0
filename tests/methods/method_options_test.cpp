#include "proca/methods/method_options.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca::methods {
namespace {

TEST(MethodOptionsTest, ValuesReachTheChosenMethod) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  options.assign("alpha", {"0.25"});
  EXPECT_NE(method.resolve().toml.find("alpha = 0.25"), std::string::npos);
  EXPECT_EQ(method.resolve().spec->name, "proca");
}

TEST(MethodOptionsTest, DefaultsYieldToWhatTheUserChose) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  options.assign("alpha", {"0.25"});
  const auto toml = method.resolve({{"alpha", {"0.5"}}, {"eta", {"0.75"}}}).toml;
  EXPECT_NE(toml.find("alpha = 0.25"), std::string::npos) << toml;
  EXPECT_NE(toml.find("eta = 0.75"), std::string::npos) << toml;
}

TEST(MethodOptionsTest, ADefaultOfAnotherMethodIsPassedOverAndOneOfNoneIsRefused) {
  const MethodOptions method("source-only");
  EXPECT_EQ(method.resolve({{"alpha", {"0.5"}}}).toml.find("alpha"), std::string::npos);
  EXPECT_EQ(test::message_of([&] {
              method.resolve({{"alhpa", {"0.5"}}});
            }),
            "[method]: no method has an option \"alhpa\"");
}

TEST(MethodOptionsTest, AnOptionOfAnotherMethodIsRefused) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  options.assign("method", {"source-only"});
  options.assign("alpha", {"0.25"});
  EXPECT_EQ(test::message_of<InvalidOption>([&] { method.resolve(); }),
            "--alpha: source-only has no such option");
}

TEST(MethodOptionsTest, ABadValueNamesTheOption) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  // Where it is given, so that the line of a configuration file can be named.
  EXPECT_EQ(test::message_of<InvalidOption>([&] { options.assign("alpha", {"2"}); }),
            "--alpha: \"2\" is out of range: must be 0 to 1");
  EXPECT_NO_THROW(method.resolve());
}

TEST(MethodOptionsTest, OfSeveralMethodsEachTakesItsOwnOptions) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  options.assign("method", {"source-only,proca"});
  options.assign("alpha", {"0.25"});
  EXPECT_EQ(method.names(), (std::vector<std::string>{"source-only", "proca"}));
  EXPECT_EQ(options.find("method")->toml(), "\"source-only,proca\"");
  auto floor = method, proca = method;
  floor.choose_one("source-only");
  EXPECT_EQ(floor.resolve().toml.find("alpha"), std::string::npos);
  proca.choose_one("proca");
  EXPECT_NE(proca.resolve().toml.find("alpha = 0.25"), std::string::npos);
  options.assign("method", {"source-only,dann"});
  auto neither = method;
  neither.choose_one("dann");
  EXPECT_EQ(test::message_of<InvalidOption>([&] { neither.resolve(); }),
            "--alpha: source-only, dann has no such option");
}

TEST(MethodOptionsTest, AnOptionWithoutEffectIsSaid) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  options.assign("alpha", {"0.25"});
  EXPECT_TRUE(method.idle_options(method.resolve()).empty());
  EXPECT_EQ(method.idle_options(method.resolve({{"detection", {"label-shift"}}})),
            (std::vector<std::string>{"--alpha has no effect: it needs --detection scd"}));
  options.assign("alpha", {"0.25"});
  options.assign("detection", {"hbw"});
  options.assign("hbw-weights", {"mass"});
  EXPECT_EQ(method.idle_options(method.resolve()).size(), 1u);  // alpha alone
}

TEST(MethodOptionsTest, TheConfigurationHoldsOnlyTheChosenMethodsOptions) {
  MethodOptions method("proca");
  OptionSet options;
  method.bind(options);
  EXPECT_NE(options.to_toml().find("lambda = 0.1"), std::string::npos) << options.to_toml();
  options.assign("method", {"source-only"});
  EXPECT_EQ(options.to_toml().find("lambda"), std::string::npos) << options.to_toml();
}

}  // namespace
}  // namespace proca::methods
