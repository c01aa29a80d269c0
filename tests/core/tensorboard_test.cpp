#include "core/tensorboard.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

uint32_t crc_of(std::string_view text) { return crc32c(bytes_of(text)); }

// RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32cTest, MatchesPublishedValues) {
  EXPECT_EQ(crc_of(""), 0u);
  EXPECT_EQ(crc_of("123456789"), 0xe3069283u);
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc_of(std::string(32, '\xff')), 0x62a8ab43u);
}

// The contents of a file's records, in which all checksums hold.
std::vector<std::string> records_of(const fs::path& path) {
  const auto text = read_text_file(path);
  const auto number = [&](size_t at, auto value) {
    std::memcpy(&value, text.data() + at, sizeof value);
    return value;
  };
  const auto masked = [](uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; };
  std::vector<std::string> records;
  for (size_t at = 0; at < text.size();) {
    const auto length = number(at, uint64_t{});
    EXPECT_EQ(number(at + 8, uint32_t{}), masked(crc_of(text.substr(at, 8))));
    records.push_back(text.substr(at + 12, length));
    EXPECT_EQ(number(at + 12 + length, uint32_t{}), masked(crc_of(records.back())));
    at += length + 16;
  }
  return records;
}

// Behind the time, which is a key and a double.
std::string without_time(const std::string& event) {
  EXPECT_EQ(event[0], '\x09');
  return event.substr(9);
}

TEST(TensorBoardWriterTest, WritesEventsByteForByte) {
  const test::TemporaryFolder folder;
  TensorBoardWriter writer(folder.path() / "new" / "logs");
  writer.scalar("a/b", 300, 0.5);
  const std::vector<uint8_t> encoded = {1, 2};
  writer.image("p", 1, 3, 4, encoded);
  const auto records = records_of(writer.path());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(without_time(records[0]),
            "\x1a\x0d"
            "brain.Event:2");
  EXPECT_EQ(without_time(records[1]), std::string("\x10\xac\x02\x2a\x0c\x0a\x0a\x0a\x03"
                                                  "a/b\x15\x00\x00\x00\x3f",
                                                  17));
  EXPECT_EQ(without_time(records[2]),
            "\x10\x01\x2a\x11\x0a\x0f\x0a\x01p\x22\x0a\x08\x04\x10\x03\x18\x03\x22\x02\x01\x02");
}

TEST(TensorBoardWriterTest, EveryWriterHasAFileOfItsOwn) {
  const test::TemporaryFolder folder;
  const TensorBoardWriter first(folder.path()), second(folder.path());
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(first.path().filename().string().starts_with("events.out.tfevents."));
}

TEST(TensorBoardWriterTest, RefusesAPlaceThatIsNoFolder) {
  const test::TemporaryFolder folder;
  write_file(folder.path() / "file", "text");
  EXPECT_THROW(TensorBoardWriter(folder.path() / "file"), InputError);
}

}  // namespace
}  // namespace proca
