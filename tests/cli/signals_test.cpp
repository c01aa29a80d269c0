// Ctrl-C and SIGTERM in any phase. A picture that is a pipe into which nobody writes keeps a
// command decoding for ever: only the time limit, or a second signal, ends it. What never
// ended would be ended by ctest.

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "proca/core/file.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kTimeWasOver = "stopped before the work at hand was done";

class SignalsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "bars", 4);
    test::write_bars(*shared_ / "data/bars", 4);
    for (const auto* place : {"endless/level", "endless/upright", "data/endless/level"}) {
      fs::create_directories(*shared_ / place);
    }
    fs::copy(*shared_ / "bars/upright/0.png", *shared_ / "endless/upright/0.png");
    for (const auto* pipe : {"endless/level/1.png", "data/endless/level/1.png"}) {
      ASSERT_EQ(mkfifo((*shared_ / pipe).c_str(), 0600), 0);
    }
    test::run_well({"pretrain", "--source", path("bars"), "--out", path("trained"), "--backbone",
                    "resnet-small", "--image-size", "16", "--epochs", "1", "--batch-size", "4"});
    write_file(*shared_ / "own.toml",
               "summary = \"bars\"\nclasses-per-step = 1\nsteps = 1\nclass-order = [\"level\"]\n"
               "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\nepochs = 1\n"
               "batch-size = 4\n[adapt]\nepochs = 1\nbatch-size = 4\n");
    write_file(*shared_ / "table.toml",
               "title = \"Mine\"\npreset = \"own.toml\"\nseeds = [0]\n"
               "[tasks]\n\"B->E\" = [\"bars\", \"endless\"]\n"
               "[run.ProCA]\nmethod = \"proca\"\n");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  // A command that decodes for ever, and a shell command that is true as soon as it does.
  struct Endless {
    Words words;
    std::string begun;
  };
  static std::vector<Endless> endless_commands(const std::string& id) {
    const auto out = path("out-" + id);
    fs::copy(path("trained"), out + "-state", fs::copy_options::recursive);
    fs::remove(out + "-state/lock");
    return {
        {{"pretrain", "--source", path("endless"), "--out", out + "-source", "--backbone",
          "resnet-small", "--image-size", "16"},
         "test -e " + out + "-source/lock"},
        {{"adapt", "--state", out + "-state", "--target", path("endless/level")},
         "test -e " + out + "-state/lock"},
        {{"predict", path("endless/level"), "--state", path("trained"), "--out", out + ".csv"},
         "ls " + out + ".csv.tmp-* > /dev/null 2>&1"},
        {{"data", "pack", path("endless"), "--out", out + ".pack"},
         "ls " + out + ".pack.tmp-* > /dev/null 2>&1"},
        {{"run", "--preset", path("own.toml"), "--data-root", path("data"), "--source", "bars",
          "--target", "endless", "--out", out + "-run"},
         "test -e " + out + "-run/source-0/state.json"},
        {{"reproduce", path("table.toml"), "--data-root", path("data"), "--out", out + "-table",
          "--jobs", "1", "--threads", "1"},
         "find " + out + "-table -name state.json | grep -q ."},
    };
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* SignalsTest::shared_ = nullptr;

TEST_F(SignalsTest, WorkThatCannotLookEndsByItself) {
  for (const std::string signal : {"INT", "TERM"}) {
    for (const auto& [words, begun] : endless_commands(signal)) {
      const auto result = test::run_proca_until(words, begun, signal);
      EXPECT_EQ(result.exit_code, 130) << words.front() << ", " << signal << ": " << result.err;
      EXPECT_NE(result.err.find(words.front() == "reproduce" ? "" : kTimeWasOver),
                std::string::npos)
          << words.front() << ", " << signal << ": " << result.err;
    }
  }
}

TEST_F(SignalsTest, TheSecondSignalKillsAtOnce) {
  for (const auto& [words, begun] : endless_commands("twice")) {
    const auto result = test::run_proca_until(words, begun, "TERM $id; kill -s TERM");
    EXPECT_GT(result.exit_code, 128) << words.front();
    EXPECT_EQ(result.err.find(kTimeWasOver), std::string::npos) << words.front() << result.err;
  }
}

// The runs of an experiment hold the lock of their folders for as long as they live.
TEST_F(SignalsTest, TheRunsOfAnExperimentEndWithIt) {
  const auto commands = endless_commands("runs");
  const auto& [words, begun] = commands.back();
  test::run_proca_until(words, begun, "TERM");
  for (const auto& entry : fs::recursive_directory_iterator(path("out-runs-table"))) {
    if (entry.path().filename() != "lock") continue;
    const auto free = test::run_shell("flock " + test::shell_quoted(entry.path().string()) +
                                      " true > \"$out\" 2> \"$err\"");
    EXPECT_EQ(free.exit_code, 0) << entry.path() << free.err;
  }
}

// Stopped in the middle of it, no half-drawn data set is left, nor a hidden folder beside it.
TEST_F(SignalsTest, DrawingStopsAndLeavesNothing) {
  fs::create_directories(path("drawing"));
  const auto result = test::run_proca_until(
      {"data", "make-demo", "--out", path("drawing/demo"), "--source-per-class", "9999"},
      "test -e " + path("drawing") + "/.demo.new-*/sketch", "INT");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_NE(result.err.find("stopped while drawing; nothing was written"), std::string::npos)
      << result.err;
  EXPECT_TRUE(fs::is_empty(path("drawing")));
}

// A picture a hundred thousand times over: packing looks between two of them.
TEST_F(SignalsTest, PackingStopsAndLeavesNothing) {
  fs::create_directories(path("packing"));
  std::string lines;
  for (int i = 0; i < 300'000; ++i) lines += "bars/level/0.png 0\n";
  write_file(path("long.txt"), lines);
  const auto result = test::run_proca_until(
      {"data", "pack", path("long.txt"), "--out", path("packing/packed"), "--threads", "1"},
      "ls " + path("packing") + "/*.tmp-* > /dev/null 2>&1", "TERM");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_NE(result.err.find("nothing was written"), std::string::npos) << result.err;
  EXPECT_TRUE(fs::is_empty(path("packing")));
}

}  // namespace
}  // namespace proca
