#include <set>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/methods/method.h"

namespace proca::methods {
namespace {

TEST(MethodRegistryTest, NamesAreUniqueAndDescribed) {
  std::set<std::string_view> names;
  for (const auto& method : all_methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_FALSE(method.summary.empty()) << method.name;
  }
  EXPECT_TRUE(names.contains("source-only"));
}

TEST(MethodRegistryTest, FindsAMethodByNameAndSuggestsTheNearest) {
  EXPECT_EQ(find_method("source-only").name, "source-only");
  try {
    find_method("source_onyl");
    FAIL() << "an unknown method was found";
  } catch (const InvalidOption& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"source-only\"?"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace proca::methods
