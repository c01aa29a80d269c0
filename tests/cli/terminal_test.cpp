// What reaches a terminal: `script` gives the program one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/shapes_data.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

using test::run_shell;
using test::shell_quoted;

// What a terminal shows of a command that is refused.
std::string shown(const std::string& variables) {
  const auto command =
      fmt::format("env -u NO_COLOR TERM=xterm {} {} adopt", variables, shell_quoted(PROCA_PROGRAM));
  const auto result = run_shell(fmt::format(
      "script -qc {} /dev/null > \"$out\" 2> \"$err\" < /dev/null", shell_quoted(command)));
  EXPECT_NE(result.out.find("did you mean adapt?"), std::string::npos) << result.out << result.err;
  return result.out;
}

bool is_coloured(const std::string& text) {
  return text.find("\033[31m") != std::string::npos || text.find("\033[1m") != std::string::npos;
}

// Yellow and white cannot be read on a light terminal.
TEST(TerminalTest, WarningsCanBeReadOnEveryTerminal) {
  if (run_shell("script --version > \"$out\" 2> \"$err\"").exit_code != 0) {
    GTEST_SKIP() << "no script";
  }
  const test::TemporaryFolder folder;
  test::write_bars(folder / "bars", 1);
  test::write_text(folder / "bars/level/phone.heic", "x");
  const auto command =
      fmt::format("env -u NO_COLOR TERM=xterm {} data verify {}", shell_quoted(PROCA_PROGRAM),
                  shell_quoted((folder / "bars").string()));
  const auto result = run_shell(fmt::format(
      "script -qc {} /dev/null > \"$out\" 2> \"$err\" < /dev/null", shell_quoted(command)));
  EXPECT_NE(result.out.find("\033[35mwarning: "), std::string::npos) << result.out;
  for (const char* unreadable : {"\033[37m", "\033[33m"}) {
    EXPECT_EQ(result.out.find(unreadable), std::string::npos) << result.out;
  }
}

TEST(TerminalTest, ColourIsForTerminalsThatWantIt) {
  if (run_shell("script --version > \"$out\" 2> \"$err\"").exit_code != 0) {
    GTEST_SKIP() << "no script";
  }
  EXPECT_TRUE(is_coloured(shown("")));
  EXPECT_TRUE(is_coloured(shown("NO_COLOR=")));  // empty counts as not set
  EXPECT_FALSE(is_coloured(shown("NO_COLOR=1")));
  EXPECT_FALSE(is_coloured(shown("TERM=dumb")));
  EXPECT_FALSE(is_coloured(test::run_proca({"adopt"}).err));
}

// A name could retitle the window, or hide what was printed before. A file gets it as it is.
TEST(TerminalTest, ControlCharactersInNamesAreWrittenOut) {
  if (run_shell("script --version > \"$out\" 2> \"$err\"").exit_code != 0) {
    GTEST_SKIP() << "no script";
  }
  const test::TemporaryFolder folder;
  const std::string name = "\033]0;title\007.png";
  test::write_png(folder / name, test::bar_image(0, 0));
  const std::vector<std::string> words = {"data", "list", folder.path().string()};
  const auto list = fmt::format("{} data list {}", shell_quoted(PROCA_PROGRAM),
                                shell_quoted(folder.path().string()));
  const auto missing = fmt::format("{} data list {}", shell_quoted(PROCA_PROGRAM),
                                   shell_quoted((folder / ("none" + name)).string()));
  for (const auto& command : {list, missing}) {
    const auto result = run_shell(fmt::format(
        "script -qc {} /dev/null > \"$out\" 2> \"$err\" < /dev/null", shell_quoted(command)));
    EXPECT_NE(result.out.find("\\x1b]0;title\\x07.png"), std::string::npos) << command;
    EXPECT_EQ(result.out.find("\033]0;"), std::string::npos) << command;
  }
  EXPECT_NE(test::run_well(words).out.find(name), std::string::npos);
}

}  // namespace
}  // namespace proca
