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

TEST(ArgumentsTest, AListDoesNotSwallowAPositionalArgument) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"reproduce", "--seeds", "0,1", "first", "--print-config"},
           {"reproduce", "--seeds", "0", "1", "first", "--print-config"},
           {"reproduce", "--seeds", "0,1", "--tasks", "A->W", "first", "--print-config"}}) {
    const auto config = test::run_well(words).out;
    EXPECT_NE(config.find("name = [\"first\"]\n"), std::string::npos) << config;
    EXPECT_NE(config.find("seeds = [\"0\", \"1\"]\n"), std::string::npos) << config;
  }
}

// The preset's values are in it, so that nothing is left for the preset to set or for a default
// to override.
TEST(ArgumentsTest, ConfigOfARunHasThePresetsValues) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> run = {
      "run",    "--method", "proca", "--preset", "demo", "--data-root", "d",     "--source",
      "sketch", "--target", "photo", "--out",    "o",    "--lr",        "0.125", "--print-config"};
  const auto shown = test::run_well(run).out;
  EXPECT_NE(shown.find("backbone = \"resnet-small\"\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("lr = 0.125\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("detection = \"label-shift\"\n"), std::string::npos) << shown;
  write_file(folder / "run.toml", shown);
  const auto file = (folder / "run.toml").string();
  EXPECT_EQ(test::run_well({"run", "--config", file, "--print-config"}).out, shown);
}

TEST(ArgumentsTest, ConfigOfAReproductionIsReadBack) {
  const test::TemporaryFolder folder;
  const auto shown = test::run_well({"reproduce", "x", "--print-config"}).out;
  EXPECT_NE(shown.find("budget = \"auto\"\n"), std::string::npos) << shown;
  write_file(folder / "own.toml", shown);
  const auto file = (folder / "own.toml").string();
  EXPECT_EQ(test::run_well({"reproduce", "--config", file, "--print-config"}).out, shown);
}

TEST(ArgumentsTest, ABadValueOfAMethodNamesItsLine) {
  const test::TemporaryFolder folder;
  write_file(folder / "bad.toml", "epochs = 3\n[method]\neta = 1\nalpha = 7\n");
  const auto file = (folder / "bad.toml").string();
  const auto refused =
      test::run_proca({"adapt", "--state", "s", "--target", "t", "--config", file});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("bad.toml:4: --alpha: \"7\" is out of range"), std::string::npos)
      << refused.err;
}

TEST(ArgumentsTest, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(test::run_well({"help"}).out, test::run_well({"--help"}).out);
  EXPECT_EQ(test::run_well({}).out, test::run_well({"--help"}).out);
  EXPECT_EQ(test::run_well({"version"}).out, test::run_well({"--version"}).out);
  EXPECT_EQ(test::run_well({"help", "data", "verify"}).out,
            test::run_well({"data", "verify", "--help"}).out);
  const auto refused = test::run_proca({"help", "adopt"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("did you mean adapt?"), std::string::npos) << refused.err;
}

TEST(ArgumentsTest, HelpOfAMethodHasItsOptionsAlone) {
  const auto dann = test::run_well({"adapt", "--method", "dann", "--help"}).out;
  EXPECT_EQ(dann.find("--alpha"), std::string::npos) << dann;
  EXPECT_NE(dann.find("Options of the method \"dann\":"), std::string::npos) << dann;
  EXPECT_NE(dann.find("--bottleneck"), std::string::npos) << dann;
  EXPECT_LT(dann.find("--epochs"), dann.find("--weight-decay"));  // most used first
  const auto proca = test::run_well({"help", "adapt", "--method=proca"}).out;
  EXPECT_NE(proca.find("--alpha"), std::string::npos) << proca;
  EXPECT_EQ(proca.find("--bottleneck"), std::string::npos) << proca;
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
