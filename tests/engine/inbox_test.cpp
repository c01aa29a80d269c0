// When a batch is complete, and what becomes of it.

#include "engine/watch_fixture.h"
#include "support/message_of.h"

namespace proca::engine {
namespace {

class InboxTest : public WatchFixture {};

TEST_F(InboxTest, CompleteBatchesAreAdaptedToInTheOrderOfTheirNames) {
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

TEST_F(InboxTest, AnotherMarkerMayBeAgreedOn) {
  options_.marker = "ready";
  add("monday");
  write_file_in(inbox_ / "tuesday" / "1.png", "tuesday");
  write_file_in(inbox_ / "tuesday" / "ready", "");
  watch();
  EXPECT_EQ(steps_, Texts{"tuesday"});
}

TEST_F(InboxTest, KeptBatchesAreMarkedAndNotDoneAgain) {
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

TEST_F(InboxTest, DeletedBatchesLeaveNothing) {
  options_.after = AfterStep::kDelete;
  add("monday");
  write_file_in(inbox_ / "monday" / "a" / "b" / "2.png", "");
  watch();
  EXPECT_EQ(steps_, Texts{"monday"});
  EXPECT_FALSE(fs::exists(inbox_ / "monday"));
  EXPECT_FALSE(fs::exists(inbox_ / ".proca-trash"));
}

TEST_F(InboxTest, ABatchOfAnEarlierNameGetsANumber) {
  for (const auto* images : {"one", "two", "three"}) {
    add("monday", images);
    watch();
  }
  EXPECT_EQ(shown_in(folder_ / "done"), (Names{"monday", "monday-2", "monday-3"}));
}

TEST_F(InboxTest, TheDoneFolderMayLieInTheInbox) {
  options_.done = inbox_ / "done";
  add("monday");
  write_file_in(inbox_ / "done" / ".complete", "");
  watch();
  watch();
  EXPECT_EQ(steps_, Texts{"monday"});
  EXPECT_EQ(shown_in(inbox_ / "done"), Names{"monday"});
}

TEST_F(InboxTest, WithoutAMarkerABatchIsCompleteWhenItIsQuietAndLargeEnough) {
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

TEST_F(InboxTest, LooseImagesBecomeABatch) {
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
TEST_F(InboxTest, LooseImagesThatWereBeingMovedFollow) {
  options_.quiet_for_s = 60;
  options_.min_images = 2;
  write_file_in(inbox_ / ".proca-gathering" / "1.png", "loose");
  write_file(inbox_ / "2.png", "");
  later_ = std::chrono::seconds(70);
  watch();
  EXPECT_EQ(shown_in(folder_ / "done" / "loose-1"), (Names{"1.png", "2.png"}));
}

TEST_F(InboxTest, WrongOptionsAreRefused) {
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
  EXPECT_TRUE(has(refused([&](auto& o) { o.done = state_; }), "is the state, or lies in it"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.done = state_ / "a"; }), "is the state, or lies in it"));
  EXPECT_FALSE(fs::exists(state_ / "a"));
  EXPECT_TRUE(has(refused([&](auto& o) { o.inbox = folder_.path(); }), "state lies in the inbox"));
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  write_file(state_ / "watch.json", "{");
  EXPECT_TRUE(has(refused([](auto&) {}), "watch.json: is damaged"));
}

}  // namespace
}  // namespace proca::engine
