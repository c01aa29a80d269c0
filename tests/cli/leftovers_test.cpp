// What killed commands leave is in nobody's way, and goes with the next command of its kind.

#include <filesystem>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class LeftoversTest : public ::testing::Test {
 protected:
  LeftoversTest() { test::write_bars(path("bars"), 4); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Words pretrain(const Words& more = {}) const {
    Words words = {"pretrain",
                   "--source",
                   path("bars"),
                   "--out",
                   path("state"),
                   "--backbone",
                   "resnet-small",
                   "--image-size",
                   "16",
                   "--batch-size",
                   "4",
                   "--epochs",
                   "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  int64_t num_files(const std::string& part) const {
    int64_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().filename().string().find(part) != std::string::npos) ++count;
    }
    return count;
  }

  test::TemporaryFolder folder_;
};

TEST_F(LeftoversTest, CurvesInsideTheStateDoNotKeepATrainingFromGoingOn) {
  const auto words = pretrain({"--tensorboard", path("state/tb")});
  test::run_and_kill(words, {.below = path("state"), .call = "rename", .file = "/state.json"});
  EXPECT_EQ(num_files("events.out.tfevents."), 1);
  EXPECT_FALSE(fs::exists(path("state/state.json")));
  test::run_well(words);
  EXPECT_TRUE(fs::exists(path("state/model.safetensors")));
}

TEST_F(LeftoversTest, TemporaryFilesOfOutputsGoWithTheNextCommand) {
  test::run_well(pretrain());
  for (const auto& words :
       {Words{"predict", path("bars/level"), "--state", path("state"), "--out", path("out.csv")},
        Words{"export", "--state", path("state"), "--format", "safetensors", "--out",
              path("out.safetensors")},
        Words{"report", path("state"), "--out", path("out.html")},
        Words{"data", "list", path("bars"), "--out", path("out.txt")}}) {
    SCOPED_TRACE(words.front());
    test::run_and_kill(words, {.below = path("out"), .call = "rename"});
    EXPECT_EQ(num_files(".tmp-"), 1);
    test::run_well(words);
    EXPECT_EQ(num_files(".tmp-"), 0);
  }
}

TEST_F(LeftoversTest, FoldersOfAKilledMakeDemoGoWithTheNext) {
  const Words words = {"data", "make-demo",          "--out", path("demo"), "--source-per-class",
                       "1",    "--target-per-class", "1"};
  test::run_and_kill(words, {.below = path(".demo"), .call = "rename", .file = "/demo-data.txt"});
  EXPECT_EQ(num_files(".demo-"), 1);
  test::run_well(words);
  EXPECT_EQ(num_files(".demo-"), 0);
}

// Killed between the last checkpoint's becoming valid and the removal of what it no longer needs.
TEST_F(LeftoversTest, AFinishedStateHasNoOptimiser) {
  const auto words = pretrain({"--epochs", "2", "--checkpoint-every", "0"});
  auto twice = words;
  twice.erase(twice.begin() + 11, twice.begin() + 13);  // --epochs 1
  test::run_and_kill(twice,
                     {.below = path("state"), .call = "unlink", .file = "/optimizer.safetensors"});
  EXPECT_TRUE(fs::exists(path("state/optimizer.safetensors")));
  test::run_well(twice);
  EXPECT_FALSE(fs::exists(path("state/optimizer.safetensors")));
  EXPECT_TRUE(fs::exists(path("state/source.safetensors")));
}

}  // namespace
}  // namespace proca
