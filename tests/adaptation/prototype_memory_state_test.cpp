#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "adaptation/prototypes.h"
#include "proca/adaptation/prototype_memory.h"
#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::adaptation {
namespace {

using test::kPrototypeBytes;
using test::prototypes;
using Tensors = std::map<std::string, torch::Tensor>;

PrototypeMemory example() {
  PrototypeMemory memory(3);
  memory.put(prototypes(7));
  auto second = prototypes(2);
  second.score = 0.1;  // no binary fraction
  memory.put(second);
  return memory;
}

torch::Tensor bytes_of(const std::string& text) {
  return torch::tensor(std::vector<uint8_t>(text.begin(), text.end()), torch::kUInt8);
}

void expect_equal(const PrototypeMemory& actual, const PrototypeMemory& expected) {
  ASSERT_EQ(actual.num_classes(), expected.num_classes());
  EXPECT_EQ(actual.per_class(), expected.per_class());
  EXPECT_EQ(actual.bytes(), expected.bytes());
  for (size_t i = 0; i < expected.classes().size(); ++i) {
    const auto& one = actual.classes()[i];
    const auto& other = expected.classes()[i];
    EXPECT_EQ(one.label, other.label);
    EXPECT_EQ(one.score, other.score);
    EXPECT_EQ(one.step, other.step);
    EXPECT_TRUE(torch::equal(one.pixels, other.pixels));
    EXPECT_TRUE(torch::equal(one.soft_labels, other.soft_labels));
    EXPECT_EQ(one.origins, other.origins);
    EXPECT_EQ(&actual.at(one.label), &one);
  }
}

TEST(PrototypeMemoryStateTest, LoadGivesBackWhatWasSaved) {
  PrototypeMemory memory(3);
  memory.put(prototypes(9));  // goes away
  memory.load(example().save());
  expect_equal(memory, example());
  EXPECT_FALSE(memory.contains(9));
}

TEST(PrototypeMemoryStateTest, SavesTheDocumentedTensors) {
  const auto tensors = example().save();
  EXPECT_EQ(tensors.size(), 6u);
  EXPECT_TRUE(torch::equal(tensors.at("labels"), torch::tensor({7, 2})));
  EXPECT_TRUE(torch::equal(tensors.at("steps"), torch::tensor({8, 3})));
  EXPECT_EQ(tensors.at("pixels").sizes(), (std::vector<int64_t>{2, 3, 2, 1, 3}));
  EXPECT_EQ(tensors.at("soft_labels").sizes(), (std::vector<int64_t>{2, 3, 2}));
  EXPECT_TRUE(torch::equal(tensors.at("origins"),
                           bytes_of(R"([["7/0","7/1","7/2"],["2/0","2/1","2/2"]])")));
}

TEST(PrototypeMemoryStateTest, AnEmptyMemoryIsNothing) {
  EXPECT_TRUE(PrototypeMemory().save().empty());
  auto memory = example();
  memory.load({});
  EXPECT_EQ(memory.num_classes(), 0);
  EXPECT_EQ(memory.bytes(), 0);
  EXPECT_FALSE(memory.contains(7));
}

TEST(PrototypeMemoryStateTest, OddNamesSurvive) {
  PrototypeMemory memory(1);
  auto entry = prototypes(0, 1);
  entry.origins = {"quote\" line\n \xc3\xa9"};
  memory.put(entry);
  entry.label = 1;
  entry.origins = {"no \xff UTF-8"};
  memory.put(entry);
  PrototypeMemory copy(1);
  copy.load(memory.save());
  EXPECT_EQ(copy.at(0).origins[0], "quote\" line\n \xc3\xa9");
  EXPECT_EQ(copy.at(1).origins[0], "no \xef\xbf\xbd UTF-8");  // U+FFFD
}

TEST(PrototypeMemoryStateTest, TheLimitsAreThoseOfTheMemoryThatLoads) {
  PrototypeMemory fewer(2);
  fewer.load(example().save());
  EXPECT_EQ(fewer.per_class(), 2);
  EXPECT_EQ(fewer.at(7).origins, (std::vector<std::string>{"7/0", "7/1"}));

  PrototypeMemory more(10);
  more.load(example().save());
  EXPECT_EQ(more.per_class(), 3);

  PrototypeMemory limited(3, 5 * kPrototypeBytes);
  ::testing::internal::CaptureStderr();
  limited.load(example().save());
  const auto warning = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(limited.per_class(), 2);
  EXPECT_EQ(limited.bytes(), 4 * kPrototypeBytes);
  EXPECT_EQ(warning.find("from 3 to 2"), warning.rfind("from 3 to 2"));  // said once
  EXPECT_NE(warning.find("from 3 to 2"), std::string::npos);

  PrototypeMemory tiny(3, kPrototypeBytes);
  EXPECT_THROW(tiny.load(example().save()), InputError);
}

struct BadCase {
  const char* what;
  const char* name;      ///< of the tensor
  torch::Tensor tensor;  ///< to put there; undefined to take it away
  const char* message;   ///< a part of the refusal
};

std::vector<BadCase> bad_cases() {
  const auto good = example().save();
  const auto nan_soft_labels = good.at("soft_labels").clone();
  nan_soft_labels[0][1][0] = std::numeric_limits<float>::quiet_NaN();
  return {
      {"no labels", "labels", {}, "is missing"},
      {"no scores", "scores", {}, "is missing"},
      {"no steps", "steps", {}, "is missing"},
      {"no pixels", "pixels", {}, "is missing"},
      {"no soft labels", "soft_labels", {}, "is missing"},
      {"no origins", "origins", {}, "is missing"},
      {"a label twice", "labels", torch::tensor({7, 7}), "holds 7 twice"},
      {"a negative label", "labels", torch::tensor({7, -2}), "holds -"},
      {"labels of another type", "labels", torch::tensor({7, 2}, torch::kInt32), "Int [2]"},
      {"a matrix of labels", "labels", torch::tensor({{7, 2}}), "Long [1, 2]"},
      {"a label too many", "labels", torch::tensor({7, 2, 3}), "Double [3]"},
      {"no class at all", "labels", torch::zeros({0}, torch::kInt64), "Double [0]"},
      {"scores of another type", "scores", torch::zeros({2}), "Float [2]"},
      {"a score that is no number", "scores", torch::tensor({0.5, std::nan("")}, torch::kFloat64),
       "finite"},
      {"one step", "steps", torch::tensor({1}), "Long [1]"},
      {"a negative step", "steps", torch::tensor({1, -1}), "holds -1"},
      {"float pixels", "pixels", good.at("pixels").to(torch::kFloat32), "Float"},
      {"one channel", "pixels", good.at("pixels").slice(4, 0, 1), "[2, 3, 2, 1, 1]"},
      {"pixels of one class", "pixels", good.at("pixels").slice(0, 0, 1), "[1, 3, 2, 1, 3]"},
      {"pixels of two prototypes", "pixels", good.at("pixels").slice(1, 0, 2), "soft_labels"},
      {"images without pixels", "pixels", good.at("pixels").slice(2, 0, 0), "is empty"},
      {"soft labels in double", "soft_labels", good.at("soft_labels").to(torch::kFloat64),
       "Double"},
      {"soft labels without classes", "soft_labels", torch::zeros({2, 3, 0}), "is empty"},
      {"soft labels of two prototypes", "soft_labels", good.at("soft_labels").slice(1, 0, 2),
       "[2, 2, 2]"},
      {"soft labels that are no numbers", "soft_labels", nan_soft_labels, "finite"},
      {"origins that are no JSON", "origins", bytes_of("[["), "not a JSON array"},
      {"origins that are nothing", "origins", bytes_of(""), "not a JSON array"},
      {"origins that are an object", "origins", bytes_of("{}"), "not a JSON array"},
      {"origins of one class", "origins", bytes_of(R"([["a","b","c"]])"), "per class"},
      {"a name missing", "origins", bytes_of(R"([["a","b","c"],["a","b"]])"), "per prototype"},
      {"a number for a name", "origins", bytes_of(R"([["a","b","c"],["a","b",3]])"),
       "per prototype"},
      {"a text for a class", "origins", bytes_of(R"([["a","b","c"],"abc"])"), "per prototype"},
  };
}

TEST(PrototypeMemoryStateTest, RefusesWhatDoesNotFitAndStaysAsItWas) {
  for (const auto& bad : bad_cases()) {
    auto tensors = example().save();
    tensors.erase(bad.name);
    if (bad.tensor.defined()) tensors[bad.name] = bad.tensor;
    PrototypeMemory memory(3);
    memory.put(prototypes(9));
    const auto revision = memory.revision();
    const auto message = test::message_of<InputError>([&] { memory.load(tensors); });
    EXPECT_TRUE(message.starts_with("prototype memory: \"")) << bad.what << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.what << ": " << message;
    EXPECT_EQ(memory.num_classes(), 1) << bad.what;
    EXPECT_TRUE(memory.contains(9)) << bad.what;
    EXPECT_EQ(memory.revision(), revision) << bad.what;
  }
}

}  // namespace
}  // namespace proca::adaptation
