#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/temporary_folder.h"

namespace proca::test {

/// How a run of the program ended.
struct ProgramResult {
  int exit_code = 0;  ///< negative: the signal that ended it
  std::string out;    ///< standard output
  std::string err;    ///< standard error
};

inline std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

/// Runs a shell command and waits for it; its output must go to $out and $err.
inline ProgramResult run_shell(const std::string& command) {
  const TemporaryFolder folder;
  const std::string redirected = "out=" + shell_quoted((folder / "out").string()) +
                                 "; err=" + shell_quoted((folder / "err").string()) + "; " +
                                 command;
  const int status = std::system(redirected.c_str());
  const auto content = [&](const char* name) {
    std::ifstream stream(folder / name, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  };
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return {code, content("out"), content("err")};
}

/// `proca` with the given words, as the shell takes it.
inline std::string command_line(const std::vector<std::string>& words) {
  std::string command = shell_quoted(PROCA_PROGRAM);
  for (const auto& word : words) command += " " + shell_quoted(word);
  return command + " > \"$out\" 2> \"$err\" < /dev/null";
}

/// Runs `proca` with the given words and waits for it. `prefix` is put in front
/// of the command line (`VARIABLE=value`).
inline ProgramResult run_proca(const std::vector<std::string>& words,
                               const std::string& prefix = "") {
  return run_shell(prefix + " " + command_line(words));
}

/// Starts `proca` and sends it `signal` (`KILL`) as soon as the shell command `condition` is true.
inline ProgramResult run_proca_until(const std::vector<std::string>& words,
                                     const std::string& condition, const std::string& signal,
                                     const std::string& prefix = "") {
  return run_shell(prefix + " " + command_line(words) +
                   " & id=$!; while kill -0 $id 2>/dev/null && ! " + condition +
                   "; do sleep 0.02; done; kill -s " + signal + " $id 2>/dev/null; wait $id");
}

/// The same for a run that must end well.
inline ProgramResult run_well(const std::vector<std::string>& words,
                              const std::string& prefix = "") {
  auto result = run_proca(words, prefix);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

}  // namespace proca::test
