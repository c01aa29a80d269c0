// What reaches a terminal: `script` gives the program one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/run_program.h"

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

}  // namespace
}  // namespace proca
