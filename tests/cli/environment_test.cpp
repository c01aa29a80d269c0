// The OpenMP setting with which the program starts itself over.

#include <sstream>

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "support/run_program.h"

namespace proca {
namespace {

// GNU OpenMP's spin count as the library reports it, of the last start; empty for another OpenMP.
std::string spins(const std::string& variables, const std::string& command = "demo") {
  const auto result =
      test::run_well({command, "--help"}, "env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY " + variables +
                                              " OMP_DISPLAY_ENV=verbose");
  std::string last;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("GOMP_SPINCOUNT = '") == std::string::npos) continue;
    const auto begin = line.find('\'') + 1;
    last = line.substr(begin, line.find('\'', begin) - begin);
  }
  return last;
}

TEST(EnvironmentTest, OpenMpThreadsSpinBriefly) {
  if (spins("").empty()) GTEST_SKIP() << "not GNU OpenMP";
  if (torch::cuda::is_available()) GTEST_SKIP() << "for commands that compute on a CPU";
  EXPECT_EQ(spins(""), "2000");
  EXPECT_NE(spins("", "methods"), "2000") << "computes nothing, starts once";
}

TEST(EnvironmentTest, WhatTheUserHasSetOfOpenMpStays) {
  if (spins("").empty()) GTEST_SKIP() << "not GNU OpenMP";
  EXPECT_EQ(spins("GOMP_SPINCOUNT=77"), "77");
  EXPECT_EQ(spins("OMP_WAIT_POLICY=passive"), "0");
}

TEST(EnvironmentTest, TooLittleAddressSpaceIsSaid) {
  const auto result = test::run_proca({"methods"}, "ulimit -v 900000;");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("limited to 878 MB (ulimit -v); at least 1024 MB are needed"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace proca
