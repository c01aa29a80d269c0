#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_program.h"

namespace proca::test {

/// A call by which the program changes a file: there a test interrupts it, not after a time, so
/// that the outcome is the same on every machine.
///
/// Example: `{.below = state, .call = "rename", .file = "/state.json", .number = 2}` is where
/// the second checkpoint becomes valid.
struct FileCall {
  std::string below;      ///< absolute path; calls for files below it count
  std::string call = {};  ///< only calls of this function count; empty: of any
  std::string file = {};  ///< only files whose path ends with this count; empty: all
  int64_t number = 1;     ///< which of them, counted from 1
};

/// What is put in front of a command line for `kind` to happen at `place`
/// (tests/crash/fault_injection.cpp has the kinds).
inline std::string fault_at(const FileCall& place, const std::string& kind) {
  const auto variable = [](const std::string& name, const std::string& value) {
    return value.empty() ? "" : " PROCA_FAULT_" + name + "=" + shell_quoted(value);
  };
  // AddressSanitizer wants to be the first library; that matters for memory, not for file calls.
  return "ASAN_OPTIONS=verify_asan_link_order=0:\"$ASAN_OPTIONS\" LD_PRELOAD=" +
         shell_quoted(PROCA_FAULT_LIBRARY) + variable("FOLDER", place.below) +
         variable("CALL", place.call) + variable("FILE", place.file) +
         variable("AT", std::to_string(place.number)) + variable("KIND", kind);
}

/// Runs `proca` and kills it in the middle of a call. The test fails if it ended before.
inline ProgramResult run_and_kill(const std::vector<std::string>& words, const FileCall& place) {
  auto result = run_proca(words, fault_at(place, "kill"));
  // The shell between them says it with 128 + 9, unless it made way for the program.
  EXPECT_TRUE(result.exit_code == 137 || result.exit_code == -9)
      << "exit code " << result.exit_code << ": it was not killed\n"
      << result.err;
  return result;
}

/// Runs `proca` and sends it SIGINT, as Ctrl-C does, at a call, which is made then.
inline ProgramResult run_and_interrupt(const std::vector<std::string>& words,
                                       const FileCall& place) {
  return run_proca(words, fault_at(place, "int"));
}

}  // namespace proca::test
