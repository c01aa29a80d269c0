// Steps that are taken back, kept, and tried in a copy, and a folder that is watched, on the
// command line.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/files/lock_file.h"
#include "proca/core/file.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::run_proca;
using test::run_well;
using Words = std::vector<std::string>;

class UndoCommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "source", 4);
    for (int64_t day = 0; day < 3; ++day) {
      for (int64_t i = 0; i < 4; ++i) {
        test::write_png(*shared_ / ("day" + std::to_string(day)) / (std::to_string(i) + ".png"),
                        test::bar_image(day, 100 + i));
      }
    }
    run_well({"pretrain", "--source", path("source"), "--out", path("trained"), "--backbone",
              "resnet-small", "--image-size", "16", "--epochs", "1", "--batch-size", "4"});
    fs::copy(path("trained"), path("adapted"), fs::copy_options::recursive);
    run_well(adapt(path("adapted"), "day0"));
    run_well(adapt(path("adapted"), "day1"));
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }
  static std::string copy_of(const std::string& name, const std::string& copy) {
    fs::copy(path(name), path(copy), fs::copy_options::recursive);
    return path(copy);
  }
  static Words training(Words words) {
    for (const auto* word : {"--epochs", "2", "--batch-size", "4", "--prototypes", "2"}) {
      words.emplace_back(word);
    }
    return words;
  }
  static Words adapt(const std::string& state, const std::string& day, Words more = {}) {
    auto words = training({"adapt", "--state", state, "--target", path(day)});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Words watch(const std::string& state, const std::string& inbox, Words more) {
    auto words = training({"watch", "--state", state, "--inbox", inbox});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::string batch(const std::string& inbox, const std::string& day) {
    const auto folder = path(inbox + "/" + day);
    fs::create_directories(path(inbox));
    fs::copy(path(day), folder, fs::copy_options::recursive);
    write_file(folder + "/.complete", "");
    return path(inbox);
  }
  // One sentence on standard error that has this part, and exit code 2.
  static void expect_refused(const Words& words, const std::string& part) {
    const auto result = run_proca(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* UndoCommandTest::shared_ = nullptr;

TEST_F(UndoCommandTest, OneStepBackAndNoFurther) {
  const auto state = copy_of("adapted", "undone");
  const auto done = run_well({"undo", "--state", state});
  EXPECT_NE(done.out.find("step 2 is taken back; the model is that of step 1"), std::string::npos)
      << done.out;
  expect_refused({"undo", "--state", state}, "step 1 cannot be taken back");
  expect_refused({"undo", "--state", copy_of("trained", "no-step")}, "has no step");
  expect_refused({"undo", "--state", path("none")}, "no such state directory");
  expect_refused({"undo", "--state", state, "--discard-unfinished"}, "no step is under way");
}

TEST_F(UndoCommandTest, AnUnfinishedStepIsFinishedOrForgotten) {
  const auto state = copy_of("adapted", "half");
  test::run_and_kill(adapt(state, "day2", {"--checkpoint-every", "0"}),
                     {.below = state, .call = "rename", .file = "/state.json", .number = 2});
  expect_refused({"undo", "--state", state}, "step 3 is under way");
  const auto done = run_well({"undo", "--state", state, "--discard-unfinished"});
  EXPECT_NE(done.out.find("the unfinished step 3 is forgotten; the model is that of step 2"),
            std::string::npos)
      << done.out;
}

TEST_F(UndoCommandTest, InspectSaysWhatIsKept) {
  const auto text = run_well({"inspect", "--state", path("adapted")}).out;
  EXPECT_NE(text.find("kept        step 1, "), std::string::npos) << text;
  const auto json =
      nlohmann::json::parse(run_well({"inspect", "--state", path("adapted"), "--json"}).out);
  ASSERT_EQ(json.at("kept_steps").size(), 1u);
  EXPECT_EQ(json.at("kept_steps")[0].at("step"), 1);
  EXPECT_GT(json.at("kept_steps")[0].at("bytes"), 1000);
  EXPECT_EQ(run_well({"inspect", "--state", path("trained")}).out.find("kept  "),
            std::string::npos);
}

TEST_F(UndoCommandTest, ModelsOfKeptStepsPredict) {
  const auto predict = [](const Words& more) {
    Words words = {"predict", path("day0"), "--top", "3"};
    words.insert(words.end(), more.begin(), more.end());
    auto text = run_well(words).out;
    // The column that a plain source model has not got.
    for (const std::string column : {",adapted", ",yes", ",no"}) {
      for (auto at = text.find(column); at != text.npos; at = text.find(column)) {
        text.erase(at, column.size());
      }
    }
    return text;
  };
  const auto last = predict({"--state", path("adapted")});
  EXPECT_EQ(predict({"--state", path("adapted"), "--step", "2"}), last);
  EXPECT_EQ(predict({"--state", path("adapted"), "--step", "0"}),
            predict({"--state", path("trained")}));
  const auto one = predict({"--state", path("adapted"), "--step", "1"});
  EXPECT_NE(one, last);
  const auto undone = copy_of("adapted", "compared");
  run_well({"undo", "--state", undone});
  EXPECT_EQ(predict({"--state", undone}), one);
  run_well({"evaluate", "--data", path("source"), "--state", path("adapted"), "--step", "1"});
  run_well({"export", "--format", "safetensors", "--state", path("adapted"), "--step", "1", "--out",
            path("one.safetensors")});
  expect_refused({"evaluate", "--data", path("source"), "--state", path("adapted"), "--step", "7"},
                 "step 7 is not kept; kept: 0 (source model), 1 and 2");
  expect_refused({"predict", path("day0"), "--step", "1"}, "--step: only goes with --state");
}

TEST_F(UndoCommandTest, AStepIsTriedInAnotherFolder) {
  const auto state = copy_of("adapted", "untouched");
  const auto before = read_text_file(state + "/state.json");
  const Words words = adapt(state, "day2", {"--out", path("trial")});
  EXPECT_NE(run_well(words).out.find("step 3: adapted"), std::string::npos);
  EXPECT_NE(run_well(words).out.find("nothing to do"), std::string::npos);
  EXPECT_EQ(read_text_file(state + "/state.json"), before);
  expect_refused(adapt(state, "day0", {"--out", path("trial")}), "use a new folder");
  expect_refused(adapt(state, "day0", {"--out", path("trained")}), "holds another state");
  expect_refused(adapt(state, "day0", {"--out", path("source")}), "is not part of a state");
  expect_refused(adapt(state, "day0", {"--out", state}), "is the state itself");
}

TEST_F(UndoCommandTest, AnInboxIsEmptiedOnce) {
  const auto state = copy_of("trained", "watched");
  batch("inbox", "day0");
  const auto inbox = batch("inbox", "day1");
  write_file(path("watch.toml"),
             "state = \"" + state + "\"\ninbox = \"" + inbox + "\"\ndone = \"" + path("done") +
                 "\"\nreport = \"" + path("page.html") +
                 "\"\nepochs = 1\nbatch-size = 4\nonce = true\n[method]\nprototypes = 2\n");
  run_well({"watch", "--config", path("watch.toml")});
  EXPECT_TRUE(fs::exists(path("done/day0/0.png")));
  EXPECT_TRUE(fs::exists(path("done/day1/0.png")));
  EXPECT_EQ(
      nlohmann::json::parse(run_well({"inspect", "--state", state, "--json"}).out).at("steps"), 2);
  EXPECT_TRUE(fs::exists(path("page.html")));
  const auto log = read_text_file(state + "/watch.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
  run_well({"undo", "--state", state});  // What was watched is a state like any other.
}

TEST_F(UndoCommandTest, WhatIsNoImageIsPutAside) {
  const auto state = copy_of("trained", "careful");
  fs::create_directories(path("mixed/empty"));
  write_file(path("mixed/empty/.complete"), "");
  fs::create_directories(path("mixed/broken"));
  write_file(path("mixed/broken/1.png"), "no picture");
  write_file(path("mixed/broken/.complete"), "");
  const auto inbox = batch("mixed", "day0");
  const auto result = run_well(watch(state, inbox, {"--once", "--delete"}));
  EXPECT_NE(result.err.find("empty: put aside: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("broken: put aside: "), std::string::npos) << result.err;
  EXPECT_TRUE(fs::exists(inbox + "/failed/empty"));
  EXPECT_TRUE(fs::exists(inbox + "/failed/broken"));
  EXPECT_FALSE(fs::exists(inbox + "/day0"));
  EXPECT_EQ(
      nlohmann::json::parse(run_well({"inspect", "--state", state, "--json"}).out).at("steps"), 1);
}

// Between two looks, and in the middle of a step, which the next one finishes.
TEST_F(UndoCommandTest, AWatcherEndsWhenItIsAskedTo) {
  const auto state = copy_of("trained", "stopped");
  const auto inbox = batch("stops", "day0");
  const auto words = watch(state, inbox, {"--keep"});
  const auto busy = test::run_and_interrupt(
      words, {.below = state, .call = "pwrite", .file = "/events.jsonl", .number = 2});
  EXPECT_EQ(busy.exit_code, 130) << busy.err;
  for (const std::string signal : {"INT", "TERM"}) {
    fs::remove(inbox + "/day0/.proca-done");
    const auto idle =
        test::run_proca_until(words, "test -e " + inbox + "/day0/.proca-done", signal);
    EXPECT_EQ(idle.exit_code, 130) << idle.err;
    EXPECT_EQ(idle.err.find("stopped before the work at hand was done"), std::string::npos);
  }
  const auto log = read_text_file(state + "/watch.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);  // The second time it was repeated.
}

TEST_F(UndoCommandTest, ASecondWatcherIsRefused) {
  const auto state = copy_of("trained", "taken");
  fs::create_directories(path("taken-inbox"));
  const auto words = watch(state, path("taken-inbox"), {"--keep", "--once"});
  {
    const LockFile first(state + "/watch.lock");
    expect_refused(words, "taken: is being watched by process");
  }
  {
    const LockFile first(path("taken-inbox/.proca-watch.lock"));
    expect_refused(words, "taken-inbox: is being watched by process");
  }
  run_well(words);
}

TEST_F(UndoCommandTest, AWatcherIsToldWhatToDo) {
  fs::create_directories(path("idle"));
  // What every batch would be refused for, although there is none yet.
  expect_refused(watch(path("adapted"), path("idle"), {"--keep", "--method", "proca"}),
                 "has been adapted with census, not proca; use --method census");
  expect_refused(watch(path("adapted"), path("idle"), {"--keep", "--method", "census,proca"}),
                 "a state has one method");
  expect_refused(watch(path("trained"), path("idle"), {}), "--done FOLDER, --keep or --delete");
  expect_refused(watch(path("trained"), path("idle"), {"--keep", "--delete"}), "give one of them");
  expect_refused(watch(path("trained"), path("idle"), {"--keep", "--marker", "a/b"}), "--marker");
  expect_refused(watch(path("trained"), path("none"), {"--keep"}), "no such folder to watch");
  expect_refused(watch(path("none"), path("idle"), {"--keep"}), "no such state directory");
  expect_refused(watch(path("trained"), path("idle"), {"--keep", "--report", path("idle")}),
                 "it is a folder");
}

}  // namespace
}  // namespace proca
