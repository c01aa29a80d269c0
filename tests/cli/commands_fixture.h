#pragma once

// A trained state, which serves all tests that only read it.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {

class CommandsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "bars", 40);
    training_ = test::run_proca(pretrain("state", {"--holdout", "0.25"}));
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }
  static std::vector<std::string> pretrain(const std::string& out,
                                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"pretrain",
                                      "--source",
                                      path("bars"),
                                      "--out",
                                      path(out),
                                      "--backbone",
                                      "resnet-small",
                                      "--image-size",
                                      "16",
                                      "--epochs",
                                      "8",
                                      "--batch-size",
                                      "8"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  inline static test::TemporaryFolder* shared_ = nullptr;
  inline static test::ProgramResult training_;
};

}  // namespace proca
