#include "state/event_log.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/temporary_folder.h"

namespace proca::state {
namespace {

TEST(EventLogTest, IsNotWrittenThroughALink) {
  const test::TemporaryFolder folder;
  write_file(folder / "notes", "mine");
  std::filesystem::create_symlink(folder / "notes", folder / "events.jsonl");
  EXPECT_THROW(EventLog(folder / "events.jsonl", 0), InputError);
  EXPECT_EQ(read_text_file(folder / "notes"), "mine");
}

TEST(EventLogTest, WritesOneObjectPerLine) {
  const test::TemporaryFolder folder;
  EventLog log(folder / "events.jsonl", 0);
  log.write("epoch", {{"epoch", int64_t{1}}, {"loss", 0.5}, {"note", std::string("a \"b\"\n")}});
  const auto text = read_text_file(folder / "events.jsonl");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(static_cast<int64_t>(text.size()), log.size());
  const auto event = nlohmann::json::parse(text);
  EXPECT_EQ(event.at("event"), "epoch");
  EXPECT_EQ(event.at("epoch"), 1);
  EXPECT_EQ(event.at("loss"), 0.5);
  EXPECT_EQ(event.at("note"), "a \"b\"\n");
  EXPECT_EQ(event.at("time").get<std::string>().size(), std::string("2026-01-01T00:00:00Z").size());
}

TEST(EventLogTest, DropsWhatCameAfterTheCheckpoint) {
  const test::TemporaryFolder folder;
  int64_t checkpoint = 0;
  {
    EventLog log(folder / "events.jsonl", 0);
    log.write("first", {});
    checkpoint = log.size();
    log.write("lost", {});
  }
  EventLog log(folder / "events.jsonl", checkpoint);
  log.write("second", {});
  const auto text = read_text_file(folder / "events.jsonl");
  EXPECT_NE(text.find("first"), std::string::npos);
  EXPECT_EQ(text.find("lost"), std::string::npos);
  EXPECT_NE(text.find("second"), std::string::npos);
}

TEST(EventLogTest, AnUnwritablePlaceIsAnInputError) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(EventLog(folder / "none" / "events.jsonl", 0), InputError);
}

TEST(EventLogTest, KnowsItsChecksum) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "events.jsonl";
  EventLog log(path, 0);
  EXPECT_EQ(log.crc(), 0u);
  log.write("epoch", {{"epoch", int64_t{1}}});
  log.write("epoch", {{"epoch", int64_t{2}}});
  EXPECT_EQ(log.crc(), crc32(bytes_of(read_text_file(path))));
}

// What is there is not read, so that damage does not become the truth.
TEST(EventLogTest, GoesOnFromTheChecksumOfTheCheckpoint) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "events.jsonl";
  write_file(path, "damaged\n");
  const auto whole = crc32(bytes_of("content\n"));
  EventLog log(path, 8, whole);
  log.write("epoch", {});
  const auto text = read_text_file(path);
  EXPECT_EQ(log.crc(), crc32(bytes_of(text.substr(8)), whole));
  EXPECT_NE(log.crc(), crc32(bytes_of(text)));
}

TEST(EventLogTest, AFileThatHasBecomeShorterGoesOnFromWhatIsLeft) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "events.jsonl";
  write_file(path, "left\n");
  EventLog log(path, 100, 17);
  EXPECT_EQ(log.size(), 5);
  log.write("epoch", {});
  EXPECT_EQ(log.crc(), crc32(bytes_of(read_text_file(path))));
}

TEST(EventLogTest, TellsItsObserverAndCounts) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "events.jsonl";
  int64_t size = 0;
  {
    EventLog log(path, 0);
    EXPECT_EQ(log.count("epoch"), 0);
    log.write("epoch", {{"epoch", int64_t{1}}});
    std::vector<std::string> seen;
    log.observe([&](const std::string& event, const std::vector<EventField>& fields) {
      seen.push_back(event + " " + fields.at(0).first);
    });
    log.write("step", {{"note", std::string(R"("event":"epoch")")}});
    log.write("epoch", {{"epoch", int64_t{2}}});
    EXPECT_EQ(seen, (std::vector<std::string>{"step note", "epoch epoch"}));
    EXPECT_EQ(log.count("epoch"), 2);
    EXPECT_EQ(log.count("step"), 1);
    size = log.size();
    log.write("epoch", {{"epoch", int64_t{3}}});
  }
  const EventLog resumed(path, size);
  EXPECT_EQ(resumed.count("epoch"), 2);
}

}  // namespace
}  // namespace proca::state
