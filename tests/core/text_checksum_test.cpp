#include "core/files/text_checksum.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca {
namespace {

TEST(TextChecksumTest, ATextWithAChecksumIsStillOfItsLanguage) {
  const auto json = append_json_checksum("{\n  \"step\": 3\n}\n");
  // zlib.crc32(b'{\n  "step": 3') in Python
  EXPECT_EQ(json, "{\n  \"step\": 3,\n  \"crc32\": \"4f3815cc\"\n}\n");
  EXPECT_EQ(nlohmann::json::parse(json).at("step"), 3);
  EXPECT_EQ(check_json_checksum(json), TextChecksum::kRight);
  const auto toml = append_toml_checksum("lr = 0.1\n");
  EXPECT_EQ(toml.substr(0, 18), "lr = 0.1\n# crc32: ");
  EXPECT_EQ(check_toml_checksum(toml), TextChecksum::kRight);
}

// Whatever bit flips: either it is found, or the content is untouched.
TEST(TextChecksumTest, EveryFlippedBitIsFound) {
  const std::string content = "{\n  \"files\": {\n    \"a\": {\n      \"crc32\": 7\n    }\n  }";
  const auto sealed = append_json_checksum(content + "\n}\n");
  for (size_t i = 0; i < sealed.size() * 8; ++i) {
    auto damaged = sealed;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    const auto seal = check_json_checksum(damaged);
    EXPECT_NE(seal, TextChecksum::kRight) << i;
    if (seal == TextChecksum::kNone) EXPECT_TRUE(damaged.starts_with(content)) << i;
  }
}

TEST(TextChecksumTest, EveryMissingEndIsFound) {
  const auto sealed = append_json_checksum("{\n  \"step\": 3\n}\n");
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_NE(check_json_checksum(sealed.substr(0, size)), TextChecksum::kRight) << size;
  }
}

TEST(TextChecksumTest, ATextOfEarlierVersionsHasNone) {
  EXPECT_EQ(check_json_checksum("{\n  \"files\": {\n    \"crc32\": \"00000000\"\n  }\n}\n"),
            TextChecksum::kNone);
  EXPECT_EQ(check_toml_checksum("lr = 0.1\n"), TextChecksum::kNone);
}

TEST(TextChecksumTest, ABrokenOneIsRefusedWithTheName) {
  EXPECT_NO_THROW(refuse_wrong_checksum(TextChecksum::kRight, "state.json"));
  EXPECT_NO_THROW(refuse_wrong_checksum(TextChecksum::kNone, "state.json"));
  EXPECT_EQ(test::message_of([] { refuse_wrong_checksum(TextChecksum::kWrong, "state.json"); }),
            "state.json: is damaged: its checksum does not match");
}

}  // namespace
}  // namespace proca
