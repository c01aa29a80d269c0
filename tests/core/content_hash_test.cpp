#include "core/files/content_hash.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace proca {
namespace {

TEST(ContentHashTest, EveryLengthOfZerosHasItsOwn) {
  const std::vector<uint8_t> zeros(300, 0);
  std::set<uint64_t> seen;
  for (size_t size = 0; size <= zeros.size(); ++size) {
    EXPECT_TRUE(seen.insert(content_hash({zeros.data(), size})).second) << size;
  }
}

TEST(ContentHashTest, EveryBitCounts) {
  std::vector<uint8_t> bytes(77, 0x5a);
  std::set<uint64_t> seen = {content_hash(bytes)};
  for (auto& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= static_cast<uint8_t>(1 << bit);
      EXPECT_TRUE(seen.insert(content_hash(bytes)).second);
      byte ^= static_cast<uint8_t>(1 << bit);
    }
  }
}

TEST(ContentHashTest, OrderAndWhatCameBeforeCount) {
  const std::vector<uint8_t> a(40, 1), b(40, 2);
  EXPECT_NE(content_hash(a, content_hash(b)), content_hash(b, content_hash(a)));
  EXPECT_NE(content_hash({}, 1), content_hash({}, 2));
  EXPECT_EQ(content_hash(a, 7), content_hash(a, 7));
}

}  // namespace
}  // namespace proca
