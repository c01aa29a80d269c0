// How the words of the command line become the values of options.

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

TEST(ArgumentsTest, WordsBecomeValues) {
  const auto config =
      test::run_well({"reproduce", "first", "--seeds", "0,1", "2", "--tasks", "A, B", "--seeds=3",
                      "--jobs=3", "--list", "--out", "./x/", "--print-config", "--", "--second"})
          .out;
  for (const auto* line :
       {"name = [\"first\", \"--second\"]\n", "seeds = [\"0\", \"1\", \"2\", \"3\"]\n",
        "tasks = [\"A, B\"]\n", "jobs = 3\n", "list = true\n", "out = \"x\"\n"}) {
    EXPECT_NE(config.find(line), std::string::npos) << line << config;
  }
}

TEST(ArgumentsTest, ConfigReadsWhatPrintConfigShows) {
  const test::TemporaryFolder folder;
  const auto shown = test::run_well({"adapt", "--state", "s", "--target", "t", "--alpha", "0.3",
                                     "--method", "proca", "--print-config"})
                         .out;
  write_file(folder / "shown.toml", shown);
  const auto file = (folder / "shown.toml").string();
  EXPECT_EQ(test::run_well({"adapt", "--config", file, "--print-config"}).out, shown);
}

TEST(ArgumentsTest, ANegativeNumberIsAValue) {
  const auto refused = test::run_proca({"reproduce", "--budget", "-1"});
  EXPECT_NE(refused.err.find("--budget: \"-1\" is out of range"), std::string::npos) << refused.err;
}

TEST(ArgumentsTest, HelpIsPrintedWhateverElseIsThere) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--help"},
                                                                 {"data", "-h"},
                                                                 {"adapt", "--help", "--nonsense"},
                                                                 {"bench", "load", "-h"}}) {
    EXPECT_NE(test::run_well(words).out.find("Usage: proca"), std::string::npos);
  }
}

}  // namespace
}  // namespace proca
