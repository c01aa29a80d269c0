// Earlier steps that a state keeps: what is in them, how long, and what taking one back leaves.

#include "state/history/state_history.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/state/undo.h"
#include "state/event_log.h"
#include "state/history/copy_state.h"
#include "state/state_files.h"
#include "state/state_writer.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::state {
namespace {

namespace fs = std::filesystem;

// Every file of a state and its bytes. The id in the lock and what else is kept for undo do not
// belong to it.
std::map<std::string, std::string> files_of(const fs::path& state) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(state)) {
    const auto name = entry.path().lexically_relative(state).string();
    if (name == kLockFile || name.starts_with(kHistoryFolder)) continue;
    files[name] = entry.is_directory() ? "a folder" : read_text_file(entry.path());
  }
  return files;
}

// A state whose steps write what a real one's do.
class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() {
    StateWriter writer(state_);
    writer.put_text(kModelFile, "the model of step 0");
    writer.put_text(kSourceFile, "the source model");
    writer.put_text(kConfigFile, "seed = 0\n");
    manifest_.phase = Phase::kReady;
    manifest_.model.class_names = {"a", "b"};
    add_event(0);
    writer.commit(manifest_);
  }

  void add_event(int64_t number) {
    EventLog events(state_ / kEventsFile, manifest_.events_bytes, manifest_.events_crc);
    events.write("step", {{"step", number}});
    manifest_.events_bytes = events.size();
    manifest_.events_crc = events.crc();
  }

  // Two checkpoints and the end of a step. `until` leaves off before.
  enum class Until { kFirstCheckpoint, kSecondCheckpoint, kEnd };
  void step(int64_t keep = 1, Until until = Until::kEnd) {
    StateWriter writer(state_);
    writer.keep_steps(keep);
    manifest_ = writer.state().manifest();
    const auto number = std::to_string(manifest_.step + 1);
    for (int64_t checkpoint = 1; checkpoint <= 2; ++checkpoint) {
      writer.put_text(kTrainingFile, "training " + number + " " + std::to_string(checkpoint));
      // Found to be old in the middle of the step.
      if (checkpoint == 2) writer.put_text(kCentresFile, "centres of step " + number);
      add_event(manifest_.step + 1);
      manifest_.adapting = {checkpoint, 0, "digest"};
      writer.commit(manifest_);
      if (until == Until::kFirstCheckpoint) return;
    }
    if (until == Until::kSecondCheckpoint) return;
    ++manifest_.step;
    manifest_.adapting.reset();
    writer.put_text(kModelFile, "the model of step " + number);
    // The memory comes with step 1 and goes with step 4.
    if (manifest_.step < 4) writer.put_text(kMemoryFile, "the memory of step " + number);
    if (manifest_.step == 4) writer.remove(kMemoryFile);
    writer.put_text(step_file_name(manifest_.step, kDetectionFile), "detected " + number);
    writer.remove(kTrainingFile);
    add_event(manifest_.step);
    writer.commit(manifest_);
  }

  void keep_source(const std::string& images) {
    StateWriter writer(state_);
    writer.put_text(kKeptSourceFile, images);
    writer.commit(Manifest(writer.state().manifest()));
  }

  std::set<int64_t> kept() const {
    std::set<int64_t> steps;
    for (const auto& entry : StateHistory(state_).kept(StateDirectory(state_))) {
      steps.insert(entry.step);
    }
    return steps;
  }
  std::string refused_undo() const {
    return test::message_of([&] { undo_step(state_); });
  }

  test::TemporaryFolder folder_;
  fs::path state_ = folder_ / "state";
  Manifest manifest_;
};

TEST_F(HistoryTest, UndoLeavesEachFormerStateByteForByte) {
  for (int64_t number = 1; number <= 6; ++number) {
    const auto before = files_of(state_);
    step();
    const auto after = files_of(state_);
    EXPECT_EQ(undo_step(state_), number - 1);
    EXPECT_EQ(files_of(state_), before) << "step " << number;
    step();  // Done again, it comes to the same.
    auto again = files_of(state_);
    // The event log has the time of day, the manifest its checksum.
    for (const auto* name : {kEventsFile, kManifestFile}) again.at(name) = after.at(name);
    EXPECT_EQ(again, after) << "step " << number;
  }
}

TEST_F(HistoryTest, OneStepBackIsKeptUntilTheNextEnds) {
  step();
  EXPECT_EQ(kept(), (std::set<int64_t>{0}));
  step();
  EXPECT_EQ(kept(), (std::set<int64_t>{1}));
  step(1, Until::kSecondCheckpoint);
  EXPECT_EQ(kept(), (std::set<int64_t>{1}));
  step();
  EXPECT_EQ(kept(), (std::set<int64_t>{2}));
  EXPECT_FALSE(fs::exists(state_ / "history" / "01"));
}

TEST_F(HistoryTest, WhatIsKeptIsBoundedAndCounted) {
  step();
  step();
  const auto entries = StateHistory(state_).kept(StateDirectory(state_));
  ASSERT_EQ(entries.size(), 1u);
  const auto size = [&](const char* name) {
    return static_cast<int64_t>(fs::file_size(state_ / "history" / "01" / name));
  };
  EXPECT_EQ(entries[0].bytes,
            size(kManifestFile) + size(kModelFile) + size(kMemoryFile) + size(kCentresFile));
  int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(state_ / "history")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 4);  // nothing of a checkpoint, and no record
}

TEST_F(HistoryTest, MoreStepsAreKeptIfWanted) {
  std::vector<std::map<std::string, std::string>> states = {files_of(state_)};
  for (int64_t number = 1; number <= 5; ++number) {
    step(3);
    states.push_back(files_of(state_));
  }
  EXPECT_EQ(kept(), (std::set<int64_t>{2, 3, 4}));
  for (int64_t number = 5; number > 2; --number) {
    const auto earlier = StateHistory(state_).open(number - 1);
    EXPECT_EQ(earlier.read_text(kModelFile), states[number - 1].at(kModelFile));
    EXPECT_EQ(earlier.manifest().step, number - 1);
    EXPECT_EQ(undo_step(state_), number - 1);
    EXPECT_EQ(files_of(state_), states[static_cast<size_t>(number - 1)]);
  }
  EXPECT_NE(refused_undo().find("step 2 cannot be taken back"), std::string::npos);
}

TEST_F(HistoryTest, WithoutKeepingNothingIsKept) {
  step();
  step(0);
  EXPECT_FALSE(fs::exists(state_ / "history"));
  EXPECT_NE(refused_undo().find("is not kept any more"), std::string::npos);
}

TEST_F(HistoryTest, UndoSaysWhyItCannot) {
  EXPECT_NE(refused_undo().find("has no step that could be taken back"), std::string::npos);
  step();
  step();
  undo_step(state_);
  const auto before = files_of(state_);
  EXPECT_NE(refused_undo().find("step 1 cannot be taken back: the state before it is not kept"),
            std::string::npos);
  step(1, Until::kFirstCheckpoint);
  EXPECT_NE(refused_undo().find("step 2 is under way"), std::string::npos);
  {
    const StateWriter other(state_);
    EXPECT_NE(refused_undo().find("is being written by process"), std::string::npos);
  }
  EXPECT_NE(test::message_of([&] { undo_step(folder_ / "none"); }).find("no such state"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  EXPECT_EQ(forget_unfinished_step(state_), 1);
  EXPECT_EQ(files_of(state_), before);
  EXPECT_NE(test::message_of([&] { forget_unfinished_step(state_); }).find("no step is under way"),
            std::string::npos);
}

// An interrupted step goes on in another process, which knows what it began with.
TEST_F(HistoryTest, AStepInSeveralProcessesIsTakenBackAsAWhole) {
  step();
  const auto before = files_of(state_);
  step(1, Until::kFirstCheckpoint);
  step(1, Until::kSecondCheckpoint);
  step();
  EXPECT_EQ(undo_step(state_), 1);
  EXPECT_EQ(files_of(state_), before);
}

TEST_F(HistoryTest, AForgottenStepLeavesNothingToTakeBack) {
  step();
  step(1, Until::kFirstCheckpoint);
  {
    StateWriter writer(state_);
    writer.keep_steps(1);
    auto manifest = writer.state().manifest();
    manifest.adapting.reset();
    writer.remove(kTrainingFile);
    writer.commit(manifest);
  }
  const auto before = files_of(state_);
  step();
  EXPECT_EQ(undo_step(state_), 1);
  EXPECT_EQ(files_of(state_), before);
}

TEST_F(HistoryTest, DamageToWhatIsKeptIsFoundBeforeAnythingIsTakenBack) {
  step();
  const auto kept_model = state_ / "history" / "00" / kModelFile;
  const auto content = read_text_file(kept_model);
  const auto before = files_of(state_);
  fs::remove(kept_model);  // It shares its bytes with no other file any more, but may be linked.
  write_file(kept_model, content.substr(1) + "x");
  EXPECT_NE(refused_undo().find("history/00/model.safetensors: is missing or damaged"),
            std::string::npos);
  EXPECT_EQ(files_of(state_), before);
  fs::remove(kept_model);
  EXPECT_NE(refused_undo().find("is not kept any more"), std::string::npos);
  write_file(kept_model, content);
  EXPECT_EQ(undo_step(state_), 0);
}

TEST_F(HistoryTest, KeptSourceImagesBelongToNoStep) {
  for (const auto* images : {"the first images", "other images"}) {
    step();
    keep_source(images);
    EXPECT_EQ(kept(), (std::set<int64_t>{0}));
    EXPECT_EQ(undo_step(state_), 0);
    const StateDirectory after(state_);
    EXPECT_EQ(after.read_text(kKeptSourceFile), images);
    EXPECT_EQ(after.read_text(kModelFile), "the model of step 0");
  }
  const auto before = files_of(state_);
  step();
  EXPECT_EQ(undo_step(state_), 0);
  EXPECT_EQ(files_of(state_), before);
  step(1, Until::kFirstCheckpoint);
  keep_source("images of a step under way");
  EXPECT_EQ(forget_unfinished_step(state_), 0);
  EXPECT_EQ(StateDirectory(state_).read_text(kKeptSourceFile), "images of a step under way");
}

TEST_F(HistoryTest, NothingBehindALinkIsRemoved) {
  const auto elsewhere = folder_ / "elsewhere";
  fs::create_directories(elsewhere / "07");
  for (const auto* name : {kManifestFile, kModelFile}) write_file(elsewhere / "07" / name, "mine");
  fs::create_directory_symlink(elsewhere, state_ / kHistoryFolder);
  { const StateWriter writer(state_); }
  EXPECT_NE(test::message_of([&] { step(); }).find("it is a link to elsewhere"), std::string::npos);
  fs::remove(state_ / kHistoryFolder);
  fs::create_directory(state_ / kHistoryFolder);
  for (const auto* name : {"00", "07"}) {
    fs::create_directory_symlink(elsewhere / "07", state_ / kHistoryFolder / name);
  }
  step();
  EXPECT_EQ(kept(), (std::set<int64_t>{0}));
  for (const auto* name : {kManifestFile, kModelFile}) {
    EXPECT_EQ(read_text_file(elsewhere / "07" / name), "mine");
  }
}

// Its files are not there to be taken back, and its model not to be used.
TEST_F(HistoryTest, AStepOfAProgramWithoutHistoryIsNotKept) {
  step();
  step(1, Until::kFirstCheckpoint);
  fs::remove_all(state_ / "history");
  step();
  EXPECT_EQ(kept(), std::set<int64_t>{});
  EXPECT_NE(refused_undo().find("is not kept any more"), std::string::npos);
}

TEST_F(HistoryTest, ACopyIsTheStateAndSharesNothingWithIt) {
  step();
  const auto before = files_of(state_);
  const auto copy = folder_ / "copy";
  EXPECT_EQ(copy_for_step(state_, copy), CopyProgress::kUnfinished);
  EXPECT_EQ(files_of(copy), before);
  for (const auto& [name, content] : before) {
    if (content == "a folder") continue;
    EXPECT_EQ(fs::hard_link_count(copy / name), 1u) << name;
  }
  EXPECT_EQ(copy_for_step(state_, copy), CopyProgress::kUnfinished);
}

TEST_F(HistoryTest, ACopyKnowsHowFarItsStepIs) {
  step();
  const auto original = state_, copy = folder_ / "copy";
  copy_for_step(original, copy);
  state_ = copy;
  step(1, Until::kFirstCheckpoint);
  EXPECT_EQ(copy_for_step(original, copy), CopyProgress::kUnfinished);
  step();
  EXPECT_EQ(copy_for_step(original, copy), CopyProgress::kFinished);
  step(2);
  EXPECT_NE(test::message_of([&] { copy_for_step(original, copy); }).find("holds another state"),
            std::string::npos);
}

TEST_F(HistoryTest, ACopyGoesNowhereElse) {
  write_file(folder_ / "notes.txt", "mine");
  const auto refused = [&](const fs::path& place) {
    return test::message_of([&] { copy_for_step(state_, place); });
  };
  EXPECT_NE(refused(state_).find("is the state itself"), std::string::npos);
  EXPECT_NE(refused(folder_.path()).find("is not part of a state"), std::string::npos);
  EXPECT_NE(refused(folder_ / "notes.txt").find("cannot be created as a folder"),
            std::string::npos);
  {
    StateWriter writer(folder_ / "other");
    writer.put_text(kModelFile, "another");
    writer.commit(manifest_);
  }
  EXPECT_NE(refused(folder_ / "other").find("holds another state"), std::string::npos);
  step(1, Until::kFirstCheckpoint);
  EXPECT_NE(refused(folder_ / "new").find("step 1 is under way"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

}  // namespace
}  // namespace proca::state
