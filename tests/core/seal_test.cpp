#include "core/files/seal.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca {
namespace {

TEST(SealTest, ASealedTextIsStillOfItsLanguage) {
  const auto json = seal_json("{\n  \"step\": 3\n}\n");
  // zlib.crc32(b'{\n  "step": 3') in Python
  EXPECT_EQ(json, "{\n  \"step\": 3,\n  \"crc32\": \"4f3815cc\"\n}\n");
  EXPECT_EQ(nlohmann::json::parse(json).at("step"), 3);
  EXPECT_EQ(check_json_seal(json), Seal::kIntact);
  const auto toml = seal_toml("lr = 0.1\n");
  EXPECT_EQ(toml.substr(0, 18), "lr = 0.1\n# crc32: ");
  EXPECT_EQ(check_toml_seal(toml), Seal::kIntact);
}

// Whatever bit flips: either it is found, or the content is untouched.
TEST(SealTest, EveryFlippedBitIsFound) {
  const std::string content = "{\n  \"files\": {\n    \"a\": {\n      \"crc32\": 7\n    }\n  }";
  const auto sealed = seal_json(content + "\n}\n");
  for (size_t i = 0; i < sealed.size() * 8; ++i) {
    auto damaged = sealed;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    const auto seal = check_json_seal(damaged);
    EXPECT_NE(seal, Seal::kIntact) << i;
    if (seal == Seal::kNone) EXPECT_TRUE(damaged.starts_with(content)) << i;
  }
}

TEST(SealTest, EveryMissingEndIsFound) {
  const auto sealed = seal_json("{\n  \"step\": 3\n}\n");
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_NE(check_json_seal(sealed.substr(0, size)), Seal::kIntact) << size;
  }
}

TEST(SealTest, ATextOfEarlierVersionsHasNone) {
  EXPECT_EQ(check_json_seal("{\n  \"files\": {\n    \"crc32\": \"00000000\"\n  }\n}\n"),
            Seal::kNone);
  EXPECT_EQ(check_toml_seal("lr = 0.1\n"), Seal::kNone);
}

TEST(SealTest, ABrokenOneIsRefusedWithTheName) {
  EXPECT_NO_THROW(refuse_broken_seal(Seal::kIntact, "state.json"));
  EXPECT_NO_THROW(refuse_broken_seal(Seal::kNone, "state.json"));
  EXPECT_EQ(test::message_of([] { refuse_broken_seal(Seal::kBroken, "state.json"); }),
            "state.json: is damaged: its checksum does not match");
}

}  // namespace
}  // namespace proca
