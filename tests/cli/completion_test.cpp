// The completion of bash, called as bash calls it, and the manual page.

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "support/run_program.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::run_proca;
using test::run_shell;
using test::run_well;
using test::shell_quoted;

using Words = std::vector<std::string>;

// A folder with a preset of one's own and a folder, and the script beside it.
class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    fs::create_directories(folder_ / "here" / "state");
    write_file(folder_ / "here" / "mine.toml", "");
    write_file(folder_ / "script", run_well({"completion", "bash"}).out);
  }

  // What bash offers for the last of the words.
  Words offered(const Words& words) const {
    std::string typed;
    for (const auto& word : words) typed += " " + shell_quoted(word);
    const auto script = fmt::format(
        "source {}; cd {}; COMP_WORDS=({}); COMP_CWORD={}; _proca; printf '%s\\n' "
        "\"${{COMPREPLY[@]}}\"",
        shell_quoted((folder_ / "script").string()), shell_quoted((folder_ / "here").string()),
        typed, words.size() - 1);
    const auto result =
        run_shell("bash --norc -c " + shell_quoted(script) + " > \"$out\" 2> \"$err\"");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    Words lines;
    std::istringstream stream(result.out);
    for (std::string line; std::getline(stream, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    return lines;
  }

  test::TemporaryFolder folder_;
};

TEST_F(CompletionTest, OffersWhatMayStandThere) {
  const struct {
    Words typed, offered;
  } cases[] = {
      {{"proca", "ad"}, {"adapt"}},
      {{"proca", "--v"}, {"--version"}},
      {{"proca", "data", ""}, {"verify", "list", "pack", "make-demo"}},
      {{"proca", "bench", "in"}, {"inference"}},
      {{"proca", "bench", "--js"}, {"--json"}},
      {{"proca", "bench", "load", "--js"}, {"--json"}},
      {{"proca", "adapt", "--meth"}, {"--method"}},
      {{"proca", "adapt", "--method", "pada"}, {"pada", "pada-prototypes"}},
      {{"proca", "adapt", "--method", "=", "da"}, {"dann"}},
      {{"proca", "adapt", "--epochs", ""}, {"auto"}},
      {{"proca", "adapt", "--state", ""}, {"state"}},
      {{"proca", "adapt", "--config", "m"}, {"mine.toml"}},
      {{"proca", "run", "--preset", "office31"}, {"office31-ci"}},
      {{"proca", "run", "--preset", "m"}, {"mine.toml"}},
      {{"proca", "pretrain", "--backbone", "resnet-"}, {"resnet-small"}},
      {{"proca", "reproduce", "final-office3"}, {"final-office31"}},
      {{"proca", "predict", "mi"}, {"mine.toml"}},
      {{"proca", "predict", "--device", ""}, {"auto", "cpu", "cuda"}},
      {{"proca", "export", "--format", "o"}, {"onnx"}},
      {{"proca", "completion", ""}, {"bash", "zsh"}},
      // Nothing is known of a number, and nothing of a command that does not exist.
      {{"proca", "adapt", "--seed", ""}, {}},
      {{"proca", "adopt", ""}, {}},
      {{"proca", "run", "--preset", "no-such"}, {}},
      {{"proca", "adapt", "--state", "mine"}, {}},
      {{"proca", "data", "adapt", "--st"}, {}},
  };
  for (const auto& [typed, expected] : cases) {
    EXPECT_EQ(offered(typed), expected) << fmt::format("{}", fmt::join(typed, " "));
  }
}

TEST_F(CompletionTest, KnowsEveryCommandAndEveryOptionOfTheHelp) {
  const auto commands = offered({"proca", ""});
  EXPECT_GE(commands.size(), 15U);
  for (const auto& command : commands) {
    const auto flags = offered({"proca", command, "--"});
    // "  --state DIR   state directory ..."
    std::istringstream help(run_well({command, "--help"}).out);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  --")) continue;
      const auto flag = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_NE(std::find(flags.begin(), flags.end(), flag), flags.end()) << command << flag;
    }
  }
}

TEST_F(CompletionTest, OtherShellsAreRefused) {
  const struct {
    Words words;
    std::string message;
  } cases[] = {
      {{"completion", "fish"}, "proca completion: \"fish\" is not one of bash, zsh"},
      {{"completion", "bash", "zsh"}, "takes one shell, \"zsh\" is one too many"},
      {{"completion"}, "proca completion: shell is missing"},
  };
  for (const auto& [words, message] : cases) {
    const auto result = run_proca(words);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }
}

TEST(ManualPageTest, DescribesEveryCommandAndOption) {
  const auto page = run_well({"manual"}).out;
  EXPECT_TRUE(page.starts_with(".TH PROCA 1 ")) << page.substr(0, 40);
  for (const auto* line :
       {".SS proca data verify\n", ".SS proca completion\n", ".BI \\-\\-state \" DIR\"\n",
        ".B \\-\\-discard\\-unfinished\n", ".SH EXIT STATUS\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

TEST(ManualPageTest, ManHasNothingToWarnAbout) {
  if (run_shell("man --version > \"$out\" 2> \"$err\"").exit_code != 0) GTEST_SKIP() << "no man";
  const auto result = run_shell(fmt::format(
      "{} manual | LC_ALL=C.UTF-8 MANROFFOPT= man --warnings -l - > \"$out\" 2> \"$err\"",
      shell_quoted(PROCA_PROGRAM)));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("proca adapt"), std::string::npos);
}

}  // namespace
}  // namespace proca
