// Every measurement on inputs so small that the figures mean nothing.

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

using nlohmann::json;
using test::run_proca;
using test::run_well;

std::vector<std::string> tiny(const std::vector<std::string>& command) {
  auto words = command;
  for (const auto* word : {"--backbone", "resnet-small", "--image-size", "16", "--batch-size", "4",
                           "--iterations", "2", "--repeats", "3", "--threads", "2", "--quiet"}) {
    words.emplace_back(word);
  }
  return words;
}

// What every measurement says of itself.
void expect_complete(const json& result, const std::string& bench) {
  EXPECT_EQ(result.at("bench"), bench);
  for (const auto* name : {"program", "libtorch", "device", "device_name", "precision"}) {
    EXPECT_FALSE(result.at(name).get<std::string>().empty()) << name;
  }
  const double rate = result.at("images_per_s"), lowest = result.at("images_per_s_min"),
               highest = result.at("images_per_s_max");
  EXPECT_GT(lowest, 0);
  EXPECT_LE(lowest, rate);
  EXPECT_LE(rate, highest);
  EXPECT_GE(result.at("data_s").get<double>(), 0);
  EXPECT_GE(result.at("compute_s").get<double>(), 0);
  EXPECT_GT(result.at("peak_memory_mb").get<double>(), 1);
  EXPECT_TRUE(result.contains("peak_device_memory_mb"));
}

class BenchTest : public ::testing::TestWithParam<std::pair<std::string, int64_t>> {};

TEST_P(BenchTest, SaysWhatWasMeasuredWhereAndHowFast) {
  const auto& [bench, images] = GetParam();
  auto words = tiny({"bench", bench});
  words.emplace_back("--json");
  const auto result = json::parse(run_well(words).out);
  expect_complete(result, bench);
  EXPECT_EQ(result.at("images"), images);
  EXPECT_EQ(result.at("repeats"), 3);
  EXPECT_EQ(result.at("batch_size"), 4);
  EXPECT_EQ(result.at("threads"), 2);
}
// Two iterations of four images; of adaptation with three kinds of them.
INSTANTIATE_TEST_SUITE_P(Kinds, BenchTest,
                         ::testing::Values(std::pair{"load", 8}, std::pair{"iteration", 24},
                                           std::pair{"training", 8}, std::pair{"inference", 8}),
                         [](const auto& test) { return test.param.first; });

TEST(BenchDecodeTest, CountsTheImagesOfAFolder) {
  const test::TemporaryFolder folder;
  test::write_bars(folder / "bars", 4);
  const auto result = json::parse(run_well({"bench", "decode", (folder / "bars").string(),
                                            "--image-size", "8", "--repeats", "2", "--json"})
                                      .out);
  expect_complete(result, "decode");
  EXPECT_EQ(result.at("images"), 12);
  EXPECT_EQ(result.at("repeats"), 2);
  EXPECT_EQ(result.at("image_size"), 8);
}

TEST(BenchStepTest, KeepsItsFolderAndRefusesToUseItAgain) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> words = {"bench",
                                          "step",
                                          "--out",
                                          (folder / "step").string(),
                                          "--image-size",
                                          "16",
                                          "--classes",
                                          "6",
                                          "--memory-classes",
                                          "3",
                                          "--images",
                                          "8",
                                          "--epochs",
                                          "2",
                                          "--json",
                                          "--quiet"};
  const auto result = json::parse(run_well(words).out);
  expect_complete(result, "step");
  EXPECT_EQ(result.at("classes_in_memory"), 3);
  EXPECT_GT(result.at("first_step_s").get<double>(), 0);
  EXPECT_EQ(result.at("further_step_s"), result.at("seconds"));
  EXPECT_TRUE(std::filesystem::exists(folder / "step" / "state"));
  const auto again = run_proca(words);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("use a new folder"), std::string::npos) << again.err;
}

TEST(BenchAllTest, WithoutAFurtherWordEverythingIsMeasuredAndNothingIsLeftBehind) {
  const test::TemporaryFolder folder;
  const auto scratch = "TMPDIR=" + test::shell_quoted(folder.path().string());
  auto words = tiny({"bench"});
  words.emplace_back("--json");
  const auto results = json::parse(run_well(words, scratch).out);
  std::vector<std::string> names;
  for (const auto& result : results) {
    names.push_back(result.at("bench"));
    expect_complete(result, names.back());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"decode", "load", "iteration", "training", "inference",
                                             "step"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(BenchAllTest, PrintsATableForPeople) {
  const auto table = run_well(tiny({"bench"})).out;
  for (const auto* word : {"images/s", "from .. to", "decode", "iteration", "inference"}) {
    EXPECT_NE(table.find(word), std::string::npos) << word << " is not in\n" << table;
  }
}

struct BadCommand {
  std::vector<std::string> words;
  std::string message;
};

class BadBenchTest : public ::testing::TestWithParam<BadCommand> {};

TEST_P(BadBenchTest, IsRefusedWithASentence) {
  const auto& [words, message] = GetParam();
  const auto result = run_proca(words);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
}
INSTANTIATE_TEST_SUITE_P(
    Words, BadBenchTest,
    ::testing::Values(
        BadCommand{{"bench", "iteraton"}, "did you mean iteration?"},
        BadCommand{{"bench", "network"}, "unknown command \"network\""},
        BadCommand{{"bench", "--treads", "1"}, "did you mean --threads?"},
        BadCommand{{"bench", "--threads", "1", "load"}, "must come after the whole command"},
        BadCommand{{"bench", "load", "--batch-size", "1"}, "--batch-size"},
        BadCommand{{"bench", "iteration", "--repeats", "0"}, "--repeats"},
        BadCommand{{"bench", "training", "--bakbone", "x"}, "did you mean --backbone?"},
        BadCommand{{"bench", "inference", "--backbone", "resnet5"}, "resnet50"},
        BadCommand{{"bench", "inference", "--device", "gpu"}, "--device"},
        BadCommand{{"bench", "decode"}, "path is missing"},
        BadCommand{{"bench", "decode", "not-there"}, "not-there"},
        BadCommand{{"bench", "step"}, "--out is missing"}));

}  // namespace
}  // namespace proca
