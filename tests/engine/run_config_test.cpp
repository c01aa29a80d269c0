#include "engine/run_config.h"

#include <gtest/gtest.h>

#include "proca/engine/adapter.h"

namespace proca::engine {
namespace {

std::string deciding(const std::string& name, const std::string& value) {
  AdaptOptions options;
  OptionSet set;
  options.bind(set);
  set.assign(name, {value});
  return deciding_options(set);
}

TEST(DecidingOptionsTest, WhereImagesAreKeptDecidesNothing) {
  EXPECT_EQ(deciding("cache-gpu", "auto"), deciding("cache-gpu", "0"));
  EXPECT_EQ(deciding("cache-gpu", "auto"), deciding("cache-ram", "1M"));
  EXPECT_EQ(deciding("cache-gpu", "auto").find("cache"), std::string::npos);
  EXPECT_NE(deciding("cache-gpu", "auto"), deciding("seed", "1"));
}

}  // namespace
}  // namespace proca::engine
