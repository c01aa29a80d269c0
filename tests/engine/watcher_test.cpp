// The order of things while a folder is watched, whatever ends the watcher in between.
// tests/crash/watch_test.py has the program.

#include "engine/watch_fixture.h"
#include "support/message_of.h"

namespace proca::engine {
namespace {

class WatcherTest : public WatchFixture {};

TEST_F(WatcherTest, WhatComesLaterIsSeenAtTheNextLook) {
  options_.once = false;
  options_.interval_s = 7;
  while_waiting_ = {[&] { add("monday"); }, [] {}, [&] { add("tuesday"); }};
  EXPECT_THROW(watch(), EndOfTest);
  EXPECT_EQ(steps_, (Texts{"monday", "tuesday"}));
  EXPECT_EQ(waited_, std::vector<double>(4, 7));
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
  leave_a_checkpoint();  // its last checkpoint
  watch();
  EXPECT_EQ(outcomes(), (Texts{"monday failed", "tuesday adapted"}));
  EXPECT_EQ(unfinished_.back(), Unfinished::kDiscard);
  add("wednesday");
  watch();
  EXPECT_EQ(unfinished_.back(), Unfinished::kRefuse);
}

// Somebody's own `proca adapt` that was interrupted is not for the watcher to forget.
TEST_F(WatcherTest, AnUnfinishedStepOfSomebodyElseIsNotForgotten) {
  leave_a_checkpoint();
  add("monday", "broken");
  add("tuesday");
  watch();
  EXPECT_EQ(unfinished_, (std::vector<Unfinished>{Unfinished::kRefuse, Unfinished::kRefuse}));
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
  leave_a_checkpoint();
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

TEST_F(WatcherTest, AStepThatKeptTheFormerModelIsSkippedAlsoAfterAKill) {
  const auto inner = calls().adapt;
  auto killed = calls();
  killed.adapt = [&](const auto& batch, auto same, auto unfinished) {
    auto outcome = inner(batch, same, unfinished);
    if (outcome.already_done) return outcome;
    state::StateWriter writer(state_);
    writer.put_text("steps/01/health.json", R"({"verdict": "refused", "kept_model": "previous"})");
    writer.commit(manifest_);
    throw EndOfTest();
  };
  add("monday");
  EXPECT_THROW(Watcher(options_, killed, clock()).run(), EndOfTest);
  Watcher(options_, killed, clock()).run();
  EXPECT_EQ(outcomes(), Texts{"monday skipped"});
}

TEST_F(WatcherTest, OutcomesAreNotWrittenThroughALink) {
  write_file(folder_ / "mine.txt", "mine");
  fs::create_symlink(folder_ / "mine.txt", state_ / "watch.jsonl");
  add("monday");
  const auto message = test::message_of([&] { watch(); });
  EXPECT_NE(message.find("it is a link to elsewhere"), std::string::npos) << message;
  EXPECT_EQ(read_text_file(folder_ / "mine.txt"), "mine");
}

}  // namespace
}  // namespace proca::engine
