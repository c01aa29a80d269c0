#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

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

/// Runs `proca` with the given words and waits for it. `prefix` is put in front
/// of the command line (`timeout -s KILL 1`, `VARIABLE=value`).
inline ProgramResult run_proca(const std::vector<std::string>& words,
                               const std::string& prefix = "") {
  const TemporaryFolder folder;
  std::string command = prefix + " " + shell_quoted(PROCA_PROGRAM);
  for (const auto& word : words) command += " " + shell_quoted(word);
  command += " > " + shell_quoted((folder / "out").string()) + " 2> " +
             shell_quoted((folder / "err").string()) + " < /dev/null";
  const int status = std::system(command.c_str());
  const auto content = [&](const char* name) {
    std::ifstream stream(folder / name, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  };
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return {code, content("out"), content("err")};
}

}  // namespace proca::test
