#include "core/files/json_limits.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca {
namespace {

using test::message_of;

TEST(JsonLimitsTest, DepthIsThatOfArraysAndObjectsTogether) {
  const JsonLimits limits{.max_depth = 3};
  EXPECT_NO_THROW(check_json_limits(R"([{"a": [1]}, [[2]]])", "a.json", limits));
  EXPECT_EQ(message_of([&] { check_json_limits(R"([{"a": [[]]}])", "a.json", limits); }),
            "a.json: has JSON that nests more than 3 levels deep");
}

TEST(JsonLimitsTest, BracketsInTextDoNotCount) {
  const JsonLimits limits{.max_depth = 1};
  EXPECT_NO_THROW(check_json_limits(R"(["[[", "\"[[", "\\", "{"])", "a.json", limits));
  EXPECT_THROW(check_json_limits(R"(["\\", ["a"]])", "a.json", limits), InputError);
}

TEST(JsonLimitsTest, SizeIsThatOfTheText) {
  const JsonLimits limits{.max_bytes = 4};
  EXPECT_NO_THROW(check_json_limits("[12]", "a.json", limits));
  EXPECT_EQ(message_of([&] { check_json_limits("[123]", "a.json", limits); }),
            "a.json: has 5 bytes of JSON; 4 are allowed");
}

TEST(JsonLimitsTest, DefaultsAreThoseOfTheManual) {
  const auto nested = [](int64_t depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_NO_THROW(check_json_limits(nested(32), "a.json"));
  EXPECT_THROW(check_json_limits(nested(33), "a.json"), InputError);
}

}  // namespace
}  // namespace proca
