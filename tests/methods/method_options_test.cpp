#include "proca/methods/method_options.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca::methods {
namespace {

TEST(MethodOptionsTest, ValuesReachTheChosenMethod) {
  MethodOptions method;
  OptionSet options;
  method.bind(options);
  options.assign("alpha", {"0.25"});
  EXPECT_NE(method.resolve().toml.find("alpha = 0.25"), std::string::npos);
  EXPECT_EQ(method.resolve().spec->name, "proca");
}

TEST(MethodOptionsTest, DefaultsYieldToWhatTheUserChose) {
  MethodOptions method;
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
  MethodOptions method;
  OptionSet options;
  method.bind(options);
  options.assign("method", {"source-only"});
  options.assign("alpha", {"0.25"});
  EXPECT_EQ(test::message_of<InvalidOption>([&] { method.resolve(); }),
            "--alpha: source-only has no such option");
}

TEST(MethodOptionsTest, ABadValueNamesTheOption) {
  MethodOptions method;
  OptionSet options;
  method.bind(options);
  options.assign("alpha", {"2"});
  EXPECT_NE(test::message_of<InvalidOption>([&] { method.resolve(); }).find("--alpha"),
            std::string::npos);
}

TEST(MethodOptionsTest, TheConfigurationHoldsOnlyTheChosenMethodsOptions) {
  MethodOptions method;
  OptionSet options;
  method.bind(options);
  EXPECT_NE(options.to_toml().find("lambda = 0.1"), std::string::npos) << options.to_toml();
  options.assign("method", {"source-only"});
  EXPECT_EQ(options.to_toml().find("lambda"), std::string::npos) << options.to_toml();
}

}  // namespace
}  // namespace proca::methods
