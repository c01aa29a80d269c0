// Ctrl-C and SIGTERM in any phase. A file call that never returns stands for work that cannot be
// stopped: only the time limit, or a second signal, ends the program then.

#include <csignal>
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

constexpr const char* kTimeWasOver = "stopped before the work at hand was done";

class SignalsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "bars", 4);
    test::write_bars(*shared_ / "target", 4);
    test::run_well({"pretrain", "--source", path("bars"), "--out", path("trained"), "--backbone",
                    "resnet-small", "--image-size", "16", "--epochs", "1", "--batch-size", "4"});
    write_file(*shared_ / "own.toml",
               "summary = \"bars\"\nclasses-per-step = 1\nsteps = 1\nclass-order = [\"level\"]\n"
               "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\nepochs = 1\n"
               "batch-size = 4\n[adapt]\nepochs = 1\nbatch-size = 4\n");
    write_file(*shared_ / "table.toml",
               "title = \"Mine\"\npreset = \"own.toml\"\nview = \"tasks\"\n"
               "metrics = [\"final\"]\nseeds = [0]\n"
               "[tasks]\n\"B->T\" = [\"bars\", \"target\"]\n"
               "[run.ProCA]\nmethod = \"proca\"\n");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  // A command, and where in it a call never returns.
  struct Phase {
    Words words;
    test::FileCall place;
  };
  static std::vector<Phase> phases(const std::string& id) {
    const auto out = path("out-" + id);
    const auto state = out + "-state";
    fs::copy(path("trained"), state, fs::copy_options::recursive);
    const Words adapt = {"adapt",    "--state", state,          "--target", path("target"),
                         "--epochs", "2",       "--batch-size", "4",        "--checkpoint-every",
                         "0"};
    const auto pretrain = [](const std::string& folder) {
      return Words{"pretrain",
                   "--source",
                   path("bars"),
                   "--out",
                   folder,
                   "--backbone",
                   "resnet-small",
                   "--image-size",
                   "16",
                   "--epochs",
                   "2",
                   "--batch-size",
                   "4",
                   "--checkpoint-every",
                   "0"};
    };
    const auto at = [](const std::string& folder, const std::string& call,
                       const std::string& file) {
      return test::FileCall{.below = folder, .call = call, .file = file};
    };
    return {
        {pretrain(out + "-1"), at(out + "-1", "open", "/lock")},
        {pretrain(out + "-2"), at(out + "-2", "pwrite", "/optimizer.safetensors.next")},
        {pretrain(out + "-3"), at(out + "-3", "rename", "/state.json")},
        {adapt, at(state, "pwrite", "/events.jsonl")},
        {adapt, at(state, "pwrite", "/training.safetensors.next")},
        {{"predict", path("target/level"), "--state", path("trained"), "--out", out + ".csv"},
         at(out + ".csv", "pwrite", "")},
        {{"data", "pack", path("bars"), "--out", out + ".pack"}, at(out + ".pack", "pwrite", "")},
        {{"run", "--preset", path("own.toml"), "--data-root", path(""), "--source", "bars",
          "--target", "target", "--out", out + "-run"},
         at(out + "-run", "rename", "/source-0/state.json")},
    };
  }
  // An experiment one of whose runs hangs, and a shell command that is true from then on.
  static test::ProgramResult stop_experiment(const std::string& out, const std::string& signal) {
    return test::run_proca_until(
        {"reproduce", path("table.toml"), "--data-root", path(""), "--out", out, "--jobs", "1",
         "--threads", "1"},
        "find " + out + " -name 'state.json.tmp-*' 2> /dev/null | grep -q .", signal,
        test::fault_at({.below = out, .call = "rename", .file = "/state.json"}, "hang"));
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* SignalsTest::shared_ = nullptr;

TEST_F(SignalsTest, WorkThatCannotStopIsEndedByTheTimeLimit) {
  for (const std::string signal : {"int", "term"}) {
    for (const auto& [words, place] : phases(signal)) {
      const auto result = test::run_proca(words, test::fault_at(place, signal + "-hang"));
      EXPECT_EQ(result.exit_code, 130)
          << words.front() << ", " << signal << " at " << place.file << ": " << result.err;
      EXPECT_NE(result.err.find(kTimeWasOver), std::string::npos)
          << words.front() << ", " << signal << " at " << place.file << ": " << result.err;
    }
  }
}

TEST_F(SignalsTest, TheSecondSignalKillsAtOnce) {
  for (const auto& [words, place] : phases("twice")) {
    const auto result = test::run_proca(words, test::fault_at(place, "int-term-hang"));
    EXPECT_TRUE(result.exit_code == 128 + SIGTERM || result.exit_code == -SIGTERM)
        << words.front() << " at " << place.file << ": " << result.exit_code << result.err;
    EXPECT_EQ(result.err.find(kTimeWasOver), std::string::npos) << words.front() << result.err;
  }
}

// The runs of an experiment hold the lock of their folders for as long as they live.
TEST_F(SignalsTest, TheRunsOfAnExperimentEndWithIt) {
  for (const std::string signal : {"INT", "TERM"}) {
    const auto out = path("table-" + signal);
    EXPECT_EQ(stop_experiment(out, signal).exit_code, 130);
    int64_t num_locks = 0;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      if (entry.path().filename() != "lock") continue;
      ++num_locks;
      const auto free =
          test::run_shell("flock --nonblock " + test::shell_quoted(entry.path().string()) +
                          " true > \"$out\" 2> \"$err\"");
      EXPECT_EQ(free.exit_code, 0) << entry.path() << free.err;
    }
    EXPECT_GT(num_locks, 0);
  }
}

// Stopped in the middle of it, no half-drawn data set is left, nor a hidden folder beside it.
TEST_F(SignalsTest, DrawingStopsAndLeavesNothing) {
  fs::create_directories(path("drawing"));
  const auto result = test::run_proca_until(
      {"data", "make-demo", "--out", path("drawing/demo"), "--source-per-class", "9999"},
      "test -e " + path("drawing") + "/.demo-*/new/sketch", "INT");
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
