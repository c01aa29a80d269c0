#include "proca/adaptation/prototype_memory.h"

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "adaptation/golden_cases.h"
#include "adaptation/prototypes.h"
#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::adaptation {
namespace {

using test::int_vector;
using test::kPrototypeBytes;
using test::prototypes;
using Origins = std::vector<std::string>;

PrototypeMemory memory_of(const std::vector<int64_t>& labels, int64_t per_class = 3,
                          int64_t budget_bytes = 0) {
  PrototypeMemory memory(per_class, budget_bytes);
  for (const int64_t label : labels) memory.put(prototypes(label, per_class));
  return memory;
}

std::vector<int64_t> labels_of(const PrototypeMemory& memory) {
  std::vector<int64_t> labels;
  for (const auto& entry : memory.classes()) labels.push_back(entry.label);
  return labels;
}

TEST(PrototypeMemoryTest, BeginsEmpty) {
  const PrototypeMemory memory;
  EXPECT_EQ(memory.per_class(), 10);
  EXPECT_EQ(memory.size(), 0);
  EXPECT_EQ(memory.bytes(), 0);
  EXPECT_FALSE(memory.contains(0));
  EXPECT_THROW(memory.at(0), std::out_of_range);
  EXPECT_EQ(memory.gather({}).labels.numel(), 0);
}

TEST(PrototypeMemoryTest, KeepsClassesInTheOrderTheyCame) {
  const auto memory = memory_of({7, 2, 5});
  EXPECT_EQ(labels_of(memory), (std::vector<int64_t>{7, 2, 5}));
  EXPECT_EQ(memory.num_classes(), 3);
  EXPECT_EQ(memory.size(), 9);
  EXPECT_EQ(memory.bytes(), 9 * kPrototypeBytes);
  EXPECT_TRUE(memory.contains(2));
  EXPECT_FALSE(memory.contains(0));
  EXPECT_EQ(memory.at(2).step, 3);
  EXPECT_EQ(memory.at(2).origins, (Origins{"2/0", "2/1", "2/2"}));
  EXPECT_TRUE(torch::equal(memory.at(2).pixels, prototypes(2).pixels));
}

TEST(PrototypeMemoryTest, ReplacingKeepsTheOrder) {
  auto memory = memory_of({7, 2, 5});
  auto other = prototypes(2);
  other.score = 0.75;
  other.pixels = torch::full({3, 2, 1, 3}, 99, torch::kUInt8);
  memory.put(other);
  EXPECT_EQ(labels_of(memory), (std::vector<int64_t>{7, 2, 5}));
  EXPECT_EQ(memory.at(2).score, 0.75);
  EXPECT_TRUE(torch::equal(memory.at(2).pixels, other.pixels));
  EXPECT_EQ(memory.bytes(), 9 * kPrototypeBytes);
}

TEST(PrototypeMemoryTest, KeepsTheFirstOnesOfTooMany) {
  PrototypeMemory memory(2);
  memory.put(prototypes(4, 5));
  EXPECT_EQ(memory.at(4).origins, (Origins{"4/0", "4/1"}));
  EXPECT_TRUE(torch::equal(memory.at(4).pixels, prototypes(4, 2).pixels));
  EXPECT_EQ(memory.at(4).pixels.storage().nbytes(), 12u);  // 2 images of 6 bytes
}

TEST(PrototypeMemoryTest, OwnsWhatItHolds) {
  PrototypeMemory memory(3);
  auto given = prototypes(1);
  given.pixels = given.pixels.contiguous();
  memory.put(given);
  given.pixels.fill_(0);
  given.soft_labels.fill_(0);
  EXPECT_TRUE(torch::equal(memory.at(1).pixels, prototypes(1).pixels));
  EXPECT_TRUE(torch::equal(memory.at(1).soft_labels, prototypes(1).soft_labels));
}

TEST(PrototypeMemoryTest, RevisionGrowsWithEveryChange) {
  auto memory = memory_of({1});
  auto last = memory.revision();
  const auto changed = [&] { return memory.revision() > std::exchange(last, memory.revision()); };
  memory.put(prototypes(2));
  EXPECT_TRUE(changed());
  memory.put(prototypes(2));
  EXPECT_TRUE(changed());
  memory.load(memory.save());
  EXPECT_TRUE(changed());
  memory.gather({0});
  EXPECT_FALSE(changed());
}

TEST(PrototypeMemoryTest, BudgetLowersAllClassesToTheirFirstOnes) {
  // 100 / 14 = 7 prototypes: one or two classes of 3, three of 2, four to seven of 1.
  auto memory = memory_of({0, 1}, 3, 100);
  EXPECT_EQ(memory.per_class(), 3);
  ::testing::internal::CaptureStderr();
  memory.put(prototypes(2));
  const auto warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("from 3 to 2: the memory of 100 bytes now holds 3 classes"),
            std::string::npos)
      << warning;
  EXPECT_EQ(memory.per_class(), 2);
  EXPECT_EQ(memory.size(), 6);
  EXPECT_EQ(memory.bytes(), 6 * kPrototypeBytes);
  for (const int64_t label : {0, 1, 2}) {
    const auto& entry = memory.at(label);
    EXPECT_TRUE(torch::equal(entry.pixels, prototypes(label, 2).pixels)) << label;
    EXPECT_TRUE(torch::equal(entry.soft_labels, prototypes(label, 2).soft_labels)) << label;
    EXPECT_EQ(entry.origins, prototypes(label, 2).origins) << label;
    // Cut off for good, not only out of sight.
    EXPECT_EQ(entry.pixels.storage().nbytes(), 12u) << label;
    EXPECT_EQ(entry.soft_labels.storage().nbytes(), 16u) << label;
  }
}

TEST(PrototypeMemoryTest, ReplacingWithinTheBudgetWarnsOfNothing) {
  auto memory = memory_of({0, 1}, 3, 6 * kPrototypeBytes);
  ::testing::internal::CaptureStderr();
  memory.put(prototypes(1));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(memory.per_class(), 3);
}

TEST(PrototypeMemoryTest, RefusesABudgetBelowOnePrototypePerClass) {
  auto memory = memory_of({0, 1}, 1, 3 * kPrototypeBytes - 1);
  const auto message = test::message_of<InputError>([&] { memory.put(prototypes(2)); });
  EXPECT_NE(message.find("41 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("3 classes"), std::string::npos) << message;
  EXPECT_EQ(labels_of(memory), (std::vector<int64_t>{0, 1}));
  PrototypeMemory tiny(10, kPrototypeBytes - 1);
  EXPECT_THROW(tiny.put(prototypes(0, 10)), InputError);
}

TEST(PrototypeMemoryTest, RefusesWhatDoesNotFit) {
  const auto refused = [](const char* what, const std::function<void(ClassPrototypes&)>& spoil) {
    auto memory = memory_of({0});
    auto spoilt = prototypes(1);
    spoil(spoilt);
    EXPECT_THROW(memory.put(spoilt), std::invalid_argument) << what;
    EXPECT_EQ(labels_of(memory), (std::vector<int64_t>{0})) << what;
  };
  refused("too few", [](auto& entry) { entry = prototypes(1, 2); });
  refused("a negative label", [](auto& entry) { entry.label = -1; });
  refused("a negative step", [](auto& entry) { entry.step = -1; });
  refused("a score that is no number", [](auto& entry) { entry.score = std::nan(""); });
  refused("no pixels", [](auto& entry) { entry.pixels = torch::Tensor(); });
  refused("float pixels", [](auto& entry) { entry.pixels = entry.pixels.to(torch::kFloat32); });
  refused("one channel", [](auto& entry) { entry.pixels = entry.pixels.slice(3, 0, 1); });
  refused("another size", [](auto& entry) { entry.pixels = entry.pixels.slice(1, 0, 1); });
  refused("an empty size", [](auto& entry) { entry.pixels = entry.pixels.slice(1, 0, 0); });
  refused("no soft labels", [](auto& entry) { entry.soft_labels = torch::Tensor(); });
  refused("more classes", [](auto& entry) { entry.soft_labels = torch::zeros({3, 3}); });
  refused("missing soft labels", [](auto& entry) { entry.soft_labels = torch::zeros({2, 2}); });
  refused("whole soft labels", [](auto& entry) {
    entry.soft_labels = torch::zeros({3, 2}, torch::kInt64);
  });
  refused("missing origins", [](auto& entry) { entry.origins.pop_back(); });
  EXPECT_THROW(PrototypeMemory(0), std::invalid_argument);
  EXPECT_THROW(PrototypeMemory(1, -1), std::invalid_argument);
}

TEST(PrototypeMemoryTest, NamesImagesThatHaveOnlyIdsYet) {
  PrototypeMemory memory(3);
  memory.put(prototypes(0));
  auto unnamed = prototypes(1);
  unnamed.origins.clear();
  unnamed.image_ids = {7, 5, 6};
  memory.put(unnamed);
  memory.name_images([](int64_t id) { return "image " + std::to_string(id); });
  EXPECT_EQ(memory.at(0).origins, prototypes(0).origins);
  EXPECT_EQ(memory.at(1).origins, (Origins{"image 7", "image 5", "image 6"}));
  EXPECT_TRUE(memory.at(1).image_ids.empty()) << "ids are those of one step";
}

TEST(PrototypeMemoryTest, RefusesSoftLabelsThatAreNotFinite) {
  PrototypeMemory memory(3);
  auto spoilt = prototypes(1);
  spoilt.soft_labels[1][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(memory.put(spoilt), Error);
}

TEST(PrototypeMemoryTest, TheOnlyClassMayChangeItsSize) {
  auto memory = memory_of({1});
  auto larger = prototypes(1);
  larger.pixels = torch::zeros({3, 4, 4, 3}, torch::kUInt8);
  memory.put(larger);
  EXPECT_EQ(memory.bytes(), 3 * (48 + 8));
}

TEST(PrototypeMemoryTest, GathersInTheOrderAskedFor) {
  const auto memory = memory_of({7, 2});
  // Prototypes 0 to 2 are those of class 7, 3 to 5 those of class 2.
  const auto batch = memory.gather({4, 0, 2, 4});
  EXPECT_EQ(int_vector(batch.labels), (std::vector<int64_t>{2, 7, 7, 2}));
  EXPECT_EQ(batch.pixels.sizes(), (std::vector<int64_t>{4, 2, 1, 3}));
  const auto values = torch::tensor({21, 70, 72, 21}, torch::kUInt8).view({4, 1, 1, 1});
  EXPECT_TRUE(torch::equal(batch.pixels, values.expand({4, 2, 1, 3})));
  EXPECT_TRUE(torch::equal(
      batch.soft_labels, torch::tensor({{2.0F, 1.0F}, {7.0F, 0.0F}, {7.0F, 2.0F}, {2.0F, 1.0F}})));
}

TEST(PrototypeMemoryTest, GatheringNothingKeepsTheShape) {
  const auto batch = memory_of({7}).gather({});
  EXPECT_EQ(batch.pixels.sizes(), (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(batch.soft_labels.sizes(), (std::vector<int64_t>{0, 2}));
}

TEST(PrototypeMemoryTest, RefusesToGatherWhatIsNotThere) {
  const auto memory = memory_of({7, 2});
  EXPECT_THROW(memory.gather({6}), c10::Error);
  EXPECT_THROW(memory.gather({-1}), c10::Error);
  EXPECT_THROW(PrototypeMemory().gather({0}), c10::Error);
}

TEST(PrototypeMemoryTest, HoldsTensOfThousandsOfClasses) {
  PrototypeMemory memory(1);
  for (int64_t label = 0; label < 20'000; ++label) {
    auto entry = prototypes(0, 1);
    entry.label = 40'000 - label;
    entry.step = label;
    memory.put(entry);
  }
  memory.put([] {
    auto entry = prototypes(0, 1);
    entry.label = 30'000;
    entry.step = 77'777;
    return entry;
  }());
  EXPECT_EQ(memory.size(), 20'000);
  EXPECT_EQ(memory.classes()[10'000].step, 77'777);
  EXPECT_EQ(memory.gather({19'999}).labels.item<int64_t>(), 20'001);
  PrototypeMemory copy(1);
  copy.load(memory.save());
  EXPECT_EQ(copy.num_classes(), 20'000);
}

}  // namespace
}  // namespace proca::adaptation
