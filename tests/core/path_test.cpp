#include "core/files/path.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace proca {
namespace {

TEST(PathTest, HasOneSpelling) {
  struct Case {
    const char* given;
    const char* expected;
  };
  for (const auto& [given, expected] : {Case{"x", "x"},
                                        {"x/", "x"},
                                        {"x//", "x"},
                                        {"./x", "x"},
                                        {"./x/", "x"},
                                        {".//x/./", "x"},
                                        {"x//y", "x/y"},
                                        {"x/./y/.", "x/y"},
                                        {"../d/x/", "../d/x"},
                                        {"..", ".."},
                                        {"../", ".."},
                                        {"a/../b/", "a/../b"},
                                        {"/", "/"},
                                        {"//", "/"},
                                        {"/a//b/", "/a/b"},
                                        {"/./a", "/a"},
                                        {".", "."},
                                        {"./", "."},
                                        {"./.", "."},
                                        {"-", "-"},
                                        {"./-x", "./-x"},
                                        {"a/-x/", "a/-x"},
                                        {"state-{seed}/", "state-{seed}"},
                                        {".hidden/", ".hidden"},
                                        {"a b/ü/", "a b/ü"},
                                        {"", ""}}) {
    EXPECT_EQ(normalise_path(given).string(), expected) << given;
  }
}

TEST(PathTest, NormalisedTwiceIsTheSame) {
  for (const auto* path : {"x/", "./-x", "//", "./", "../d//x/", ""}) {
    const auto once = normalise_path(path);
    EXPECT_EQ(normalise_path(once).string(), once.string()) << path;
  }
}

// Before and after there is anything at the place.
TEST(PathTest, OfAPlaceIsTheSameWhetherItExists) {
  const test::TemporaryFolder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto before = absolute_path("results/runs");
  std::filesystem::create_directories("results/runs");
  const auto after = absolute_path("results/runs");
  std::filesystem::current_path(here);
  EXPECT_TRUE(before.is_absolute()) << before;
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace proca
