// The order of things while a folder is watched, with a clock and steps of the test's own: no
// image is decoded and nothing is waited for. tests/crash/watch_test.py has the program.

#include "engine/watch/watcher.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/state_files.h"
#include "state/state_writer.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

// Ends the waiting of a watcher that would go on for ever.
struct EndOfTest {};

class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() {
    fs::create_directories(inbox_);
    state::StateWriter writer(state_);
    writer.put_text(state::kModelFile, "a model");
    writer.commit(manifest_);
    options_.state = state_;
    options_.inbox = inbox_;
    options_.after = AfterStep::kMove;
    options_.done = folder_ / "done";
    options_.once = true;
  }

  // A batch; what its images are is in their text.
  void add(const std::string& name, const std::string& images = "") {
    write_file_in(inbox_ / name / "1.png", images.empty() ? name : images);
    write_file_in(inbox_ / name / ".complete", "");
  }
  static void write_file_in(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    write_file(path, text);
  }

  // A step as the adapter takes it: nothing for the images of the last one.
  StepOutcome adapt(const fs::path& batch, SameImages same, Unfinished unfinished) {
    const auto images = read_text_file(batch / "1.png");
    unfinished_.push_back(unfinished);
    if (images == "strange") throw std::runtime_error("the loss is no number");
    if (images == "broken" || images == "other method") throw InputError(images);
    if (steps_.empty() || steps_.back() != images || same == SameImages::kAdaptAgain) {
      steps_.push_back(images);
      set_step(static_cast<int64_t>(steps_.size()));
      return {.step = manifest_.step, .num_images = 1, .detected = {0, 1}, .seconds = 2};
    }
    return {.step = manifest_.step, .num_images = 1, .already_done = true};
  }
  void set_step(int64_t step, bool is_under_way = false) {
    state::StateWriter writer(state_);
    manifest_.step = step;
    manifest_.adapting.reset();
    if (is_under_way) manifest_.adapting.emplace();
    writer.commit(manifest_);
  }

  WatchCalls calls() {
    return {.adapt = [this](const auto& batch, auto same,
                            auto unfinished) { return adapt(batch, same, unfinished); },
            .problem_of = [](const fs::path& batch) -> std::optional<std::string> {
              if (read_text_file(batch / "1.png") == "broken") return "1.png: is broken";
              return std::nullopt;
            },
            .after_batch = [this] { ++reports_; }};
  }
  void watch() { Watcher(options_, calls(), clock()).run(); }
  WatchClock clock() {
    return {.now = [this] { return std::chrono::system_clock::now() + later_; },
            .wait =
                [this](double seconds) {
                  waited_.push_back(seconds);
                  if (while_waiting_.empty()) throw EndOfTest();
                  while_waiting_.front()();
                  while_waiting_.erase(while_waiting_.begin());
                }};
  }

  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(read_text_file(state_ / "watch.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> outcomes;
    for (const auto& line : lines()) {
      outcomes.push_back(line.at("batch").get<std::string>() + " " +
                         line.at("outcome").get<std::string>());
    }
    return outcomes;
  }
  static std::set<std::string> shown_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& path : entries_of(folder)) {
      const auto name = path.filename().string();
      if (!name.starts_with('.')) names.insert(name);
    }
    return names;
  }
  using Names = std::set<std::string>;
  using Texts = std::vector<std::string>;

  test::TemporaryFolder folder_;
  fs::path state_ = folder_ / "state", inbox_ = folder_ / "inbox";
  state::Manifest manifest_ = {.phase = state::Phase::kReady, .model = {.class_names = {"a"}}};
  WatchOptions options_;
  Texts steps_;  // the images of each
  std::vector<Unfinished> unfinished_;
  int reports_ = 0;
  std::chrono::seconds later_{0};
  std::vector<std::function<void()>> while_waiting_;
  std::vector<double> waited_;
};

TEST_F(WatcherTest, CompleteBatchesAreAdaptedToInTheOrderOfTheirNames) {
  add("tuesday");
  add("monday");
  write_file_in(inbox_ / "wednesday" / "1.png", "still comes");
  write_file_in(inbox_ / ".hidden" / ".complete", "");
  watch();
  EXPECT_EQ(steps_, (Texts{"monday", "tuesday"}));
  EXPECT_EQ(shown_in(inbox_), Names{"wednesday"});
  EXPECT_EQ(shown_in(folder_ / "done"), (Names{"monday", "tuesday"}));
  EXPECT_EQ(reports_, 2);
  EXPECT_FALSE(fs::exists(state_ / "watch.json"));
  const auto line = lines().front();
  EXPECT_EQ(line.at("batch"), "monday");
  EXPECT_EQ(line.at("outcome"), "adapted");
  EXPECT_EQ(line.at("step"), 1);
  EXPECT_EQ(line.at("images"), 1);
  EXPECT_EQ(line.at("detected_classes"), 2);
  EXPECT_EQ(line.at("moved_to"), (folder_ / "done" / "monday").string());
  EXPECT_FALSE(line.contains("verdict"));
}

TEST_F(WatcherTest, WhatComesLaterIsSeenAtTheNextLook) {
  options_.once = false;
  options_.interval_s = 7;
  while_waiting_ = {[&] { add("monday"); }, [] {}, [&] { add("tuesday"); }};
  EXPECT_THROW(watch(), EndOfTest);
  EXPECT_EQ(steps_, (Texts{"monday", "tuesday"}));
  EXPECT_EQ(waited_, std::vector<double>(4, 7));
}

TEST_F(WatcherTest, AnotherMarkerMayBeAgreedOn) {
  options_.marker = "ready";
  add("monday");
  write_file_in(inbox_ / "tuesday" / "1.png", "tuesday");
  write_file_in(inbox_ / "tuesday" / "ready", "");
  watch();
  EXPECT_EQ(steps_, Texts{"tuesday"});
}

TEST_F(WatcherTest, KeptBatchesAreMarkedAndNotDoneAgain) {
  options_.after = AfterStep::kKeep;
  add("monday");
  watch();
  watch();
  EXPECT_EQ(steps_, Texts{"monday"});
  EXPECT_EQ(shown_in(inbox_), Names{"monday"});
  const auto mark = nlohmann::json::parse(read_text_file(inbox_ / "monday" / ".proca-done"));
  EXPECT_EQ(mark.at("step"), 1);
  fs::remove(inbox_ / "monday" / ".proca-done");
  watch();
  EXPECT_EQ(outcomes(), (Texts{"monday adapted", "monday repeated"}));
}

TEST_F(WatcherTest, DeletedBatchesLeaveNothing) {
  options_.after = AfterStep::kDelete;
  add("monday");
  write_file_in(inbox_ / "monday" / "a" / "b" / "2.png", "");
  watch();
  EXPECT_EQ(steps_, Texts{"monday"});
  EXPECT_FALSE(fs::exists(inbox_ / "monday"));
  EXPECT_FALSE(fs::exists(inbox_ / ".proca-trash"));
}

TEST_F(WatcherTest, ABatchOfAnEarlierNameGetsANumber) {
  for (const auto* images : {"one", "two", "three"}) {
    add("monday", images);
    watch();
  }
  EXPECT_EQ(shown_in(folder_ / "done"), (Names{"monday", "monday-2", "monday-3"}));
}

TEST_F(WatcherTest, TheDoneFolderMayLieInTheInbox) {
  options_.done = inbox_ / "done";
  add("monday");
  write_file_in(inbox_ / "done" / ".complete", "");
  watch();
  watch();
  EXPECT_EQ(steps_, Texts{"monday"});
  EXPECT_EQ(shown_in(inbox_ / "done"), Names{"monday"});
}

TEST_F(WatcherTest, RepeatedImagesAreOneStepUnlessWanted) {
  add("monday", "images");
  add("tuesday", "images");
  watch();
  EXPECT_EQ(outcomes(), (Texts{"monday adapted", "tuesday repeated"}));
  options_.again = true;
  add("wednesday", "images");
  watch();
  EXPECT_EQ(outcomes().back(), "wednesday adapted");
}

TEST_F(WatcherTest, WhatCannotBeReadIsPutAsideAndTheNextFollows) {
  add("monday", "broken");
  add("tuesday");
  watch();
  watch();
  EXPECT_EQ(outcomes(), (Texts{"monday failed", "tuesday adapted"}));
  EXPECT_EQ(lines().front().at("error"), "1.png: is broken");
  EXPECT_EQ(shown_in(inbox_ / "failed"), Names{"monday"});
  EXPECT_EQ(shown_in(inbox_), Names{"failed"});
}

TEST_F(WatcherTest, WhatIsNotTheBatchsFaultLeavesItInItsPlace) {
  add("monday", "other method");
  EXPECT_EQ(test::message_of([&] { watch(); }), "other method");
  EXPECT_EQ(shown_in(inbox_), Names{"monday"});
  write_file(inbox_ / "monday" / "1.png", "monday");
  watch();
  EXPECT_EQ(outcomes(), Texts{"monday adapted"});
}

TEST_F(WatcherTest, AStepThatFailsThreeTimesIsGivenUp) {
  add("monday", "strange");
  add("tuesday");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(watch(), std::runtime_error);
    EXPECT_EQ(shown_in(inbox_), (Names{"monday", "tuesday"}));
  }
  set_step(0, /*is_under_way=*/true);  // its last checkpoint
  watch();
  EXPECT_EQ(outcomes(), (Texts{"monday failed", "tuesday adapted"}));
  EXPECT_EQ(unfinished_.back(), Unfinished::kDiscard);
  add("wednesday");
  watch();
  EXPECT_EQ(unfinished_.back(), Unfinished::kRefuse);
}

// Somebody's own `proca adapt` that was interrupted is not for the watcher to forget.
TEST_F(WatcherTest, AnUnfinishedStepOfSomebodyElseIsNotForgotten) {
  set_step(0, /*is_under_way=*/true);
  add("monday", "broken");
  add("tuesday");
  watch();
  EXPECT_EQ(unfinished_, (std::vector<Unfinished>{Unfinished::kRefuse, Unfinished::kRefuse}));
}

TEST_F(WatcherTest, WithoutAMarkerABatchIsCompleteWhenItIsQuietAndLargeEnough) {
  options_.quiet_for_s = 60;
  options_.min_images = 2;
  write_file_in(inbox_ / "monday" / "1.png", "monday");
  later_ = std::chrono::seconds(100);
  watch();
  EXPECT_EQ(steps_, Texts{});  // too small
  write_file_in(inbox_ / "monday" / "2.png", "");
  later_ = std::chrono::seconds(50);
  watch();
  EXPECT_EQ(steps_, Texts{});  // too soon
  later_ = std::chrono::seconds(-50);
  watch();
  EXPECT_EQ(steps_, Texts{});  // before it was written, as the clock was set back
  later_ = std::chrono::seconds(70);
  watch();
  EXPECT_EQ(steps_, Texts{"monday"});
}

TEST_F(WatcherTest, LooseImagesBecomeABatch) {
  options_.quiet_for_s = 60;
  options_.min_images = 2;
  write_file(inbox_ / "1.png", "loose");
  write_file(inbox_ / ".upload-in-progress", "hidden files do not count");
  later_ = std::chrono::seconds(70);
  watch();
  EXPECT_EQ(steps_, Texts{});
  write_file(inbox_ / "2.png", "");
  watch();
  EXPECT_EQ(steps_, Texts{"loose"});
  EXPECT_EQ(shown_in(folder_ / "done" / "loose-1"), (Names{"1.png", "2.png"}));
  for (const auto* name : {"1.png", "2.png"}) write_file(inbox_ / name, "more");
  watch();
  EXPECT_EQ(shown_in(folder_ / "done"), (Names{"loose-1", "loose-2"}));
}

// Killed while they were moved: some are in the hidden folder.
TEST_F(WatcherTest, LooseImagesThatWereBeingMovedFollow) {
  options_.quiet_for_s = 60;
  options_.min_images = 2;
  write_file_in(inbox_ / ".proca-gathering" / "1.png", "loose");
  write_file(inbox_ / "2.png", "");
  later_ = std::chrono::seconds(70);
  watch();
  EXPECT_EQ(shown_in(folder_ / "done" / "loose-1"), (Names{"1.png", "2.png"}));
}

// After each stage of a batch a watcher may be killed; the next one goes on there.
TEST_F(WatcherTest, AKilledWatchersBatchIsDoneOnce) {
  add("monday");
  add("tuesday");
  const auto inbox = fs::absolute(inbox_).string();
  WatchJournal(state_).begin(inbox, "tuesday", 0);  // it comes first, as it has begun
  watch();
  EXPECT_EQ(steps_, (Texts{"tuesday", "monday"}));

  add("wednesday");
  WatchJournal(state_).begin(inbox, "wednesday", 2);
  adapt(inbox_ / "wednesday", SameImages::kSkip, Unfinished::kRefuse);  // its step was finished
  watch();
  EXPECT_EQ(steps_.size(), 3u);
  EXPECT_EQ(outcomes().back(), "wednesday adapted");

  add("thursday");
  const auto log = read_text_file(state_ / "watch.jsonl");
  const auto place = (folder_ / "done" / "thursday").string();
  const std::string line = R"({"batch":"thursday","outcome":"adapted","step":4})";
  for (const auto& in_log : {std::string(), line.substr(0, 9), line + "\n"}) {
    WatchJournal journal(state_);
    journal.begin(inbox, "thursday", 3);
    journal.settle(line, place);  // the step was finished, and some of the line is in the log
    write_file(state_ / "watch.jsonl", log + in_log);
    watch();
    EXPECT_EQ(read_text_file(state_ / "watch.jsonl"), log + line + "\n");
    EXPECT_TRUE(fs::exists(place));
  }
  EXPECT_EQ(steps_.size(), 3u);
}

// It was moved, and another one of its name has come: that is not done yet.
TEST_F(WatcherTest, ABatchThatWasMovedIsNotMistakenForTheNextOfItsName) {
  WatchJournal journal(state_);
  journal.begin(fs::absolute(inbox_).string(), "monday", 0);
  journal.settle(R"({"batch":"monday","outcome":"adapted"})", folder_ / "done" / "monday");
  fs::create_directories(folder_ / "done" / "monday");
  add("monday", "of the next week");
  watch();
  EXPECT_EQ(steps_, Texts{"of the next week"});
  EXPECT_EQ(shown_in(folder_ / "done"), (Names{"monday", "monday-2"}));
}

TEST_F(WatcherTest, ABatchThatVanishedGivesWay) {
  WatchJournal(state_).begin(fs::absolute(inbox_).string(), "monday", 0);
  set_step(0, /*is_under_way=*/true);
  add("tuesday");
  watch();
  EXPECT_EQ(steps_, Texts{"tuesday"});
  EXPECT_EQ(unfinished_.back(), Unfinished::kDiscard);
}

TEST_F(WatcherTest, ABatchOfAnotherInboxIsNotForgottenSilently) {
  WatchJournal(state_).begin("/another", "monday", 0);
  EXPECT_NE(test::message_of([&] { watch(); }).find("the batch monday of /another is not done"),
            std::string::npos);
  options_.discard_unfinished = true;
  add("tuesday");
  watch();
  EXPECT_EQ(steps_, Texts{"tuesday"});
}

TEST_F(WatcherTest, ASecondWatcherOfStateOrInboxIsRefused) {
  const auto first = Watcher(options_, calls());
  EXPECT_NE(test::message_of([&] { watch(); }).find("state: is being watched by process"),
            std::string::npos);
  const auto other = folder_ / "other";
  fs::copy(state_, other, fs::copy_options::recursive);
  options_.state = other;
  EXPECT_NE(test::message_of([&] { watch(); }).find("inbox: is being watched by process"),
            std::string::npos);
}

TEST_F(WatcherTest, AStateThatIsBeingWrittenIsWaitedFor) {
  options_.once = false;
  add("monday");
  auto other = std::make_unique<state::StateWriter>(state_);
  while_waiting_ = {[&] { other.reset(); }, [] {}};
  EXPECT_THROW(watch(), EndOfTest);
  EXPECT_EQ(steps_, Texts{"monday"});
  EXPECT_EQ(waited_.size(), 3u);
}

TEST_F(WatcherTest, TheVerdictOfAStepIsInItsLine) {
  const auto inner = calls().adapt;
  auto with_verdict = calls();
  with_verdict.adapt = [&](const auto& batch, auto same, auto unfinished) {
    auto outcome = inner(batch, same, unfinished);
    state::StateWriter writer(state_);
    writer.put_text("steps/01/health.json",
                    R"({"verdict": "doubtful", "reason": "few images", "images": 1})");
    writer.commit(manifest_);
    return outcome;
  };
  add("monday");
  Watcher(options_, with_verdict, clock()).run();
  EXPECT_EQ(lines().front().at("verdict"), "doubtful");
  EXPECT_EQ(lines().front().at("reason"), "few images");
  EXPECT_FALSE(lines().front().contains("error"));
}

TEST_F(WatcherTest, WrongOptionsAreRefused) {
  const auto refused = [&](const std::function<void(WatchOptions&)>& change) {
    auto changed = options_;
    change(changed);
    return test::message_of([&] { Watcher(changed, calls(), clock()); });
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(refused([](auto& o) { o.after = AfterStep::kUnsaid; }), "--done FOLDER, --keep"));
  EXPECT_TRUE(has(refused([](auto& o) { o.marker = "a/b"; }), "not the name of a file"));
  EXPECT_TRUE(has(refused([](auto& o) { o.marker = ".."; }), "not the name of a file"));
  EXPECT_TRUE(has(refused([](auto& o) { o.min_images = 3; }), "--quiet-for"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.inbox = folder_ / "none"; }), "no such folder"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.state = folder_ / "none"; }), "no such state"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.done = inbox_; }), "is the inbox itself"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.done = inbox_ / "a" / "b"; }), "in a batch"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.inbox = folder_.path(); }), "state lies in the inbox"));
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  write_file(state_ / "watch.json", "{");
  EXPECT_TRUE(has(refused([](auto&) {}), "watch.json: is damaged"));
}

}  // namespace
}  // namespace proca::engine
