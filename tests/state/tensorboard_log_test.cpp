#include "state/tensorboard_log.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "proca/core/file.h"
#include "support/temporary_folder.h"

namespace proca::state {
namespace {

// The only file of a folder. tests/tensorboard reads such files with other people's code.
std::string content_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  EXPECT_EQ(files.size(), 1u);
  return read_text_file(files.at(0));
}

// Tags follow each other in the file as length and text.
int64_t count_tag(const std::string& content, const std::string& tag) {
  const auto wanted = static_cast<char>(tag.size()) + tag;
  int64_t count = 0;
  for (auto at = content.find(wanted); at != content.npos; at = content.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TensorBoardLogTest, EveryNumberIsACurveOverEpochsOrSteps) {
  const test::TemporaryFolder folder;
  TensorBoardLog log(folder.path(), 4);
  log.add("start", {{"threads", int64_t{2}}});
  log.add("adapt_epoch", {{"step", int64_t{2}}, {"epoch", int64_t{1}}, {"loss.source", 0.5}});
  log.add("step", {{"step", int64_t{2}}, {"images", int64_t{7}}, {"note", std::string("text")}});
  const auto content = content_of(folder.path());
  EXPECT_EQ(count_tag(content, "start/threads"), 0);
  EXPECT_EQ(count_tag(content, "adapt/loss/source"), 1);
  EXPECT_EQ(count_tag(content, "adapt/epoch"), 0);
  EXPECT_EQ(count_tag(content, "step/images"), 1);
  EXPECT_EQ(count_tag(content, "step/note"), 0);
  // The fifth epoch in all, of the second step: field 2 of the event, before the summary.
  EXPECT_NE(content.find("\x10\x05\x2a"), content.npos);
  EXPECT_NE(content.find("\x10\x02\x2a"), content.npos);
}

TEST(TensorBoardLogTest, PrototypesOfTheStepAreRowsOfImages) {
  const test::TemporaryFolder folder;
  adaptation::PrototypeMemory memory(2);
  for (const int64_t label : {0, 1}) {
    memory.put({.label = label,
                .score = 1,
                .step = label,  // from 0
                .pixels = torch::full({2, 4, 4, 3}, 100, torch::kUInt8),
                .soft_labels = torch::full({2, 2}, 0.5),
                .origins = {"a", "b"}});
  }
  TensorBoardLog log(folder.path(), 0);
  log.add_prototypes(memory, 2, {"cup", "saw"});
  const auto content = content_of(folder.path());
  EXPECT_EQ(count_tag(content, "prototypes/saw"), 1);
  EXPECT_EQ(count_tag(content, "prototypes/cup"), 0);
  // Height 4, width 2 * 4, RGB.
  EXPECT_NE(content.find("\x08\x04\x10\x08\x18\x03\x22"), content.npos);
}

TEST(TensorBoardLogTest, ManyPrototypesAreShownInPart) {
  const test::TemporaryFolder folder;
  adaptation::PrototypeMemory memory(12);
  memory.put({.label = 0,
              .score = 1,
              .step = 0,
              .pixels = torch::zeros({12, 4, 4, 3}, torch::kUInt8),
              .soft_labels = torch::ones({12, 1}),
              .origins = std::vector<std::string>(12, "a")});
  TensorBoardLog log(folder.path(), 0);
  log.add_prototypes(memory, 1, {"cup"});
  // Width 10 * 4.
  EXPECT_NE(content_of(folder.path()).find("\x08\x04\x10\x28\x18\x03\x22"), std::string::npos);
}

}  // namespace
}  // namespace proca::state
