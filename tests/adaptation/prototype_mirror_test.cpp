#include "adaptation/prototype_mirror.h"

#include <gtest/gtest.h>

#include "prototypes.h"

namespace proca::adaptation {
namespace {

using test::kPrototypeBytes;
using test::prototypes;

constexpr int64_t kPlenty = 1 << 20;

void expect_same(const PrototypeBatch& left, const PrototypeBatch& right) {
  EXPECT_TRUE(torch::equal(left.pixels, right.pixels));
  EXPECT_TRUE(torch::equal(left.soft_labels, right.soft_labels));
  EXPECT_TRUE(torch::equal(left.labels, right.labels));
}

// All prototypes, last first, and the first once more.
std::vector<int64_t> all_backwards(const PrototypeMemory& memory) {
  std::vector<int64_t> indexes;
  for (int64_t i = memory.size() - 1; i >= 0; --i) indexes.push_back(i);
  indexes.push_back(0);
  return indexes;
}

void expect_mirrored(PrototypeMirror& mirror, const PrototypeMemory& memory) {
  const auto indexes = all_backwards(memory);
  expect_same(mirror.gather(memory, indexes), memory.gather(indexes));
}

TEST(PrototypeMirrorTest, FollowsWhatIsAddedAndReplaced) {
  PrototypeMemory memory(3);
  PrototypeMirror mirror(torch::kCPU, kPlenty);
  for (const int64_t label : {4, 1, 7, 0, 9}) {
    memory.put(prototypes(label));
    expect_mirrored(mirror, memory);
  }
  auto changed = prototypes(7);
  changed.pixels = changed.pixels + 100;
  changed.soft_labels = changed.soft_labels * 0.5;
  memory.put(changed);
  expect_mirrored(mirror, memory);
  // Row 0 of class 7, the third to come, is prototype 2 * 3: 10 * 7 + 100.
  EXPECT_EQ(mirror.gather(memory, {6}).pixels.max().item<int64_t>(), 170);
}

TEST(PrototypeMirrorTest, FollowsWhenTheBudgetLowersTheNumberPerClass) {
  PrototypeMemory memory(3, 7 * kPrototypeBytes);
  PrototypeMirror mirror(torch::kCPU, kPlenty);
  for (const int64_t label : {2, 5, 3, 8}) {  // 3 per class, 3, 2, 1
    memory.put(prototypes(label));
    expect_mirrored(mirror, memory);
  }
  ASSERT_EQ(memory.per_class(), 1);
}

TEST(PrototypeMirrorTest, FollowsAMemoryThatWasLoadedAnew) {
  PrototypeMemory memory(3), other(3);
  for (const int64_t label : {2, 5}) memory.put(prototypes(label));
  PrototypeMirror mirror(torch::kCPU, kPlenty);
  expect_mirrored(mirror, memory);
  other.put(prototypes(6));
  memory.load(other.save());
  expect_mirrored(mirror, memory);
}

TEST(PrototypeMirrorTest, AMemoryThatIsTooLargeIsNotCopiedAndIsTheSame) {
  PrototypeMemory memory(3);
  PrototypeMirror mirror(torch::kCPU, 6 * kPrototypeBytes), none(torch::kCPU, 0);
  for (const int64_t label : {1, 2}) {
    memory.put(prototypes(label));
    expect_mirrored(mirror, memory);
    expect_mirrored(none, memory);
  }
  EXPECT_GE(mirror.bytes(), 6 * kPrototypeBytes);
  EXPECT_EQ(none.bytes(), 0);
  memory.put(prototypes(3));
  expect_mirrored(mirror, memory);
  EXPECT_EQ(mirror.bytes(), 0);
}

TEST(PrototypeMirrorTest, ABatchStaysWhatItWasWhenTheMemoryChanges) {
  PrototypeMemory memory(3);
  memory.put(prototypes(1));
  PrototypeMirror mirror(torch::kCPU, kPlenty);
  const auto before = mirror.gather(memory, {0, 2});
  auto changed = prototypes(1);
  changed.pixels = changed.pixels + 50;
  memory.put(changed);
  mirror.gather(memory, {0});
  EXPECT_EQ(before.pixels.max().item<int64_t>(), 12);  // 10 * 1 + 2
}

TEST(PrototypeMirrorTest, RefusesPrototypesThatAreNotThere) {
  PrototypeMemory memory(3);
  PrototypeMirror mirror(torch::kCPU, kPlenty);
  EXPECT_ANY_THROW(mirror.gather(memory, {0}));
  memory.put(prototypes(1));
  EXPECT_ANY_THROW(mirror.gather(memory, {3}));
  EXPECT_ANY_THROW(mirror.gather(memory, {-1}));
  EXPECT_EQ(mirror.gather(memory, {}).pixels.size(0), 0);
}

}  // namespace
}  // namespace proca::adaptation
