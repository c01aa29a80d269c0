// What the program makes of its environment before main() begins.

#include <sstream>

#include <gtest/gtest.h>

#include "support/run_program.h"

namespace proca {
namespace {

// How often OpenMP's threads look before they sleep, as the library tells it; empty where
// LibTorch has another OpenMP than GNU's.
std::string spins(const std::string& variables) {
  const auto result = test::run_well({"--version"}, "env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY " +
                                                        variables + " OMP_DISPLAY_ENV=verbose");
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("GOMP_SPINCOUNT = '") == std::string::npos) continue;
    const auto begin = line.find('\'') + 1;
    return line.substr(begin, line.find('\'', begin) - begin);
  }
  return {};
}

TEST(EnvironmentTest, OpenMpThreadsSpinBriefly) {
  const auto usual = spins("");
  if (usual.empty()) GTEST_SKIP() << "not GNU OpenMP";
  EXPECT_TRUE(usual == "1000" || usual == "20000") << usual;
}

TEST(EnvironmentTest, WhatTheUserHasSetOfOpenMpStays) {
  if (spins("").empty()) GTEST_SKIP() << "not GNU OpenMP";
  EXPECT_EQ(spins("GOMP_SPINCOUNT=77"), "77");
  EXPECT_EQ(spins("OMP_WAIT_POLICY=passive"), "0");
}

}  // namespace
}  // namespace proca
