// The commands as a user strings them together, on real files.

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

#include "cli/commands_fixture.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;
using test::run_proca;
using test::run_well;

TEST_F(CommandsTest, PretrainLearnsAndSaysSo) {
  ASSERT_EQ(training_.exit_code, 0) << training_.err;
  const auto place = training_.out.find("held-out accuracy: ");
  ASSERT_NE(place, std::string::npos) << training_.out;
  EXPECT_GE(std::stod(training_.out.substr(place + 19)), 90.0) << training_.out;
  EXPECT_FALSE(fs::exists(path("state") + "/optimizer.safetensors"));
  std::istringstream events(read_text_file(path("state") + "/events.jsonl"));
  std::string line;
  int64_t epochs = 0;
  ASSERT_TRUE(std::getline(events, line));
  EXPECT_EQ(nlohmann::json::parse(line).at("event"), "start");
  while (std::getline(events, line)) {
    const auto event = nlohmann::json::parse(line);
    EXPECT_EQ(event.at("event"), "epoch");
    EXPECT_EQ(event.at("epoch"), ++epochs);
    EXPECT_TRUE(event.at("loss").is_number());
  }
  EXPECT_EQ(epochs, 8);
}

TEST_F(CommandsTest, TheSameTrainingAgainIsDoneAtOnceAndOtherOptionsAreRefused) {
  const auto again = run_well(pretrain("state", {"--holdout", "0.25"}));
  EXPECT_NE(again.err.find("is trained already"), std::string::npos) << again.err;
  const auto other = run_proca(pretrain("state", {"--holdout", "0.5"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("holdout = 0.25 there, holdout = 0.5 here"), std::string::npos)
      << other.err;
}

TEST_F(CommandsTest, ATrainingOnOtherPixelsIsRefused) {
  const auto image = fs::path(path("bars")) / "upright" / "0.png";
  test::write_png(image, test::bar_image(0, 99));
  const auto other = run_proca(pretrain("state", {"--holdout", "0.25"}));
  test::write_png(image, test::bar_image(0, 0));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("holds a training with other pixels"), std::string::npos) << other.err;
}

// The state that a training leaves which was cut off and started again.
void expect_bit_equal_to_the_uninterrupted(const std::string& path, const std::string& whole) {
  for (const auto* file : {"/model.safetensors", "/source.safetensors", "/config.toml"}) {
    EXPECT_EQ(read_text_file(path + file), read_text_file(whole + file)) << file;
  }
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(path)) {
    left.insert(entry.path().filename().string());
  }
  EXPECT_EQ(left, (std::set<std::string>{"config.toml", "events.jsonl", "lock", "model.safetensors",
                                         "source.safetensors", "state.json"}));
}

// In turns before anything is saved, while a checkpoint is written, where it becomes valid, and
// between its files.
TEST_F(CommandsTest, KilledTrainingGoesOnAndEndsBitEqual) {
  const auto words = pretrain("killed", {"--holdout", "0.25", "--checkpoint-every", "0"});
  const auto state = path("killed");
  test::run_and_kill(words, {.below = state, .file = "/events.jsonl", .number = 2});
  test::run_and_kill(words, {.below = state, .call = "rename", .file = "/state.json", .number = 3});
  test::run_and_kill(
      words,
      {.below = state, .call = "pwrite", .file = "/optimizer.safetensors.next", .number = 2});
  test::run_and_kill(words, {.below = state, .call = "rename", .file = "/model.safetensors"});
  const auto last = run_well(words);
  EXPECT_NE(last.err.find("goes on after epoch"), std::string::npos) << last.err;
  expect_bit_equal_to_the_uninterrupted(path("killed"), path("state"));
}

// No checkpoint is due for days: what is saved, Ctrl-C has saved.
TEST_F(CommandsTest, StoppedTrainingGoesOnAndEndsBitEqual) {
  const auto words = pretrain("stopped", {"--holdout", "0.25", "--checkpoint-every", "1000000"});
  for (int life = 0; life < 2; ++life) {  // Each stops after two more epochs.
    const auto stopped = test::run_and_interrupt(
        words, {.below = path("stopped"), .call = "pwrite", .file = "/events.jsonl", .number = 3});
    EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  }
  const auto last = run_well(words);
  EXPECT_NE(last.err.find("goes on after epoch 4"), std::string::npos) << last.err;
  expect_bit_equal_to_the_uninterrupted(path("stopped"), path("state"));
}

TEST_F(CommandsTest, WithoutEpochsTheWeightsAreTheModel) {
  auto words = pretrain("as-it-is", {"--weights", path("state") + "/model.safetensors"});
  *(std::find(words.begin(), words.end(), "--epochs") + 1) = "0";
  run_well(words);
  EXPECT_EQ(read_text_file(path("as-it-is") + "/model.safetensors"),
            read_text_file(path("state") + "/model.safetensors"));
  const auto manifest = nlohmann::json::parse(read_text_file(path("as-it-is") + "/state.json"));
  EXPECT_EQ(manifest.at("events_bytes"), fs::file_size(path("as-it-is") + "/events.jsonl"));
}

TEST_F(CommandsTest, ResultDoesNotDependOnTheMemoryForImages) {
  run_well(pretrain("nocache", {"--holdout", "0.25", "--cache-ram", "0"}));
  EXPECT_EQ(read_text_file(path("nocache") + "/model.safetensors"),
            read_text_file(path("state") + "/model.safetensors"));
}

TEST_F(CommandsTest, EvaluateReportsAccuracyByClass) {
  const auto result =
      run_well({"evaluate", "--state", path("state"), "--data", path("bars"), "--json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("images"), 120);
  EXPECT_GE(json.at("accuracy_percent"), 90.0);
  EXPECT_EQ(json.at("classes").size(), 3u);
}

TEST_F(CommandsTest, EvaluateMatchesClassFoldersByName) {
  // Only one class, the last in the alphabet: as label 0 it would be all wrong.
  fs::create_directories(path("part"));
  fs::copy(path("bars") + "/upright", path("part") + "/upright", fs::copy_options::recursive);
  const auto result =
      run_well({"evaluate", "--state", path("state"), "--data", path("part"), "--json"});
  EXPECT_GE(nlohmann::json::parse(result.out).at("accuracy_percent"), 90.0);
  fs::rename(path("part") + "/upright", path("part") + "/uprigt");
  const auto unknown = run_proca({"evaluate", "--state", path("state"), "--data", path("part")});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("the nearest is \"upright\""), std::string::npos) << unknown.err;
}

TEST_F(CommandsTest, EvaluateNamesTheLineOfALabelOutOfRange) {
  write_file(path("labels.txt"), "bars/frame/0.png 0\nbars/frame/1.png 3\n");
  const auto result =
      run_proca({"evaluate", "--state", path("state"), "--data", path("labels.txt")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("labels.txt:2: label 3 is not below the number of classes, 3"),
            std::string::npos)
      << result.err;
}

TEST_F(CommandsTest, PredictWritesJsonWithTheTopClasses) {
  const auto result = run_well({"predict", path("bars") + "/frame", "--state", path("state"),
                                "--format", "json", "--top", "2"});
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json.size(), 40u);
  const auto& first = json.at(0);
  EXPECT_EQ(first.at("path"), path("bars") + "/frame/0.png");
  EXPECT_EQ(first.at("class"), "frame");
  EXPECT_EQ(first.at("label"), 0);
  EXPECT_GT(first.at("confidence"), 0.5);
  ASSERT_EQ(first.at("top").size(), 2u);
  EXPECT_EQ(first.at("top").at(0).at("class"), "frame");
}

TEST_F(CommandsTest, PredictTakesSeveralPaths) {
  const auto result = run_well({"predict", path("bars") + "/frame", path("bars") + "/level/3.png",
                                "--state", path("state"), "--quiet"});
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1 + 40 + 1) << result.out;
  EXPECT_NE(result.out.find("/level/3.png,1,level,"), std::string::npos) << result.out;
}

TEST_F(CommandsTest, PredictWritesCsvThatQuotesOddPaths) {
  const std::string name = "a \"b\", ü.png";
  test::write_png(*shared_ / "odd" / name, test::bar_image(0, 0));
  run_well({"predict", path("odd"), "--state", path("state"), "--out", path("odd.csv")});
  const auto text = read_text_file(path("odd.csv"));
  EXPECT_TRUE(text.starts_with("path,label,class,confidence,adapted\n")) << text;
  EXPECT_NE(text.find("/a \"\"b\"\", ü.png\",2,upright,"), std::string::npos) << text;
}

TEST_F(CommandsTest, PredictSkipsBadImagesOnlyWhenAsked) {
  test::write_png(*shared_ / "bad" / "good.png", test::bar_image(0, 0));
  write_file(path("bad") + "/bad.png", "no picture");
  const auto refused = run_proca({"predict", path("bad"), "--state", path("state")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("bad/bad.png"), std::string::npos) << refused.err;
  const auto skipped =
      run_well({"predict", path("bad"), "--state", path("state"), "--on-bad-image", "skip"});
  EXPECT_NE(skipped.err.find("skipped 1 image that"), std::string::npos) << skipped.err;
  EXPECT_NE(skipped.err.find("bad/bad.png"), std::string::npos) << skipped.err;
  EXPECT_NE(skipped.out.find("good.png,2,upright"), std::string::npos) << skipped.out;
}

TEST_F(CommandsTest, PackedImagesGiveTheSamePredictions) {
  run_well({"data", "pack", path("bars"), "--out", path("bars.pack"), "--image-size", "16"});
  const auto files = run_well({"evaluate", "--state", path("state"), "--data", path("bars")});
  const auto packed = run_well({"evaluate", "--state", path("state"), "--data", path("bars.pack")});
  EXPECT_EQ(files.out, packed.out);
}

TEST_F(CommandsTest, ListFilesGiveTheSamePredictions) {
  run_well({"data", "list", path("bars"), "--out", path("bars.txt")});
  const auto files = run_well({"evaluate", "--state", path("state"), "--data", path("bars")});
  const auto list = run_well({"evaluate", "--state", path("state"), "--data", path("bars.txt")});
  EXPECT_EQ(files.out, list.out);
}

TEST_F(CommandsTest, ExportedSafetensorsPredictTheSameWithoutTheState) {
  run_well({"export", "--state", path("state"), "--format", "safetensors", "--out",
            path("model.safetensors")});
  const auto state = run_well({"predict", path("bars") + "/level", "--state", path("state")});
  const auto weights = run_well({"predict", path("bars") + "/level", "--backbone", "resnet-small",
                                 "--weights", path("model.safetensors")});
  // Only a state knows which classes were adapted: its last column.
  std::string shortened;
  std::istringstream lines(state.out);
  for (std::string line; std::getline(lines, line);) {
    shortened += line.substr(0, line.rfind(',')) + "\n";
  }
  EXPECT_EQ(shortened, weights.out);
}

TEST_F(CommandsTest, VerifyCountsClassesAndFindsDuplicates) {
  fs::create_directories(path("twice"));
  fs::copy(path("bars"), path("twice"), fs::copy_options::recursive);
  fs::copy(path("twice") + "/level/0.png", path("twice") + "/frame/copy.png");
  const auto result = run_well({"data", "verify", path("twice"), "--json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("images"), 121);
  EXPECT_EQ(json.at("classes"), 3);
  EXPECT_EQ(json.at("per_class").at("frame"), 41);
  ASSERT_EQ(json.at("duplicates").size(), 1u);
  EXPECT_EQ(json.at("duplicates").at(0).size(), 2u);
  EXPECT_TRUE(json.at("bad").empty());
}

TEST_F(CommandsTest, InspectShowsTheModel) {
  const auto json =
      nlohmann::json::parse(run_well({"inspect", "--state", path("state"), "--json"}).out);
  EXPECT_EQ(json.at("phase"), "ready");
  EXPECT_EQ(json.at("epochs"), 8);
  EXPECT_EQ(json.at("class_names"), (std::vector<std::string>{"frame", "level", "upright"}));
}

TEST_F(CommandsTest, PrintedConfigurationReadBackGivesTheSame) {
  const auto printed = run_well(pretrain("x", {"--schedule", "cosine", "--print-config"}));
  write_file(path("config.toml"), printed.out);
  const auto again = run_well({"pretrain", "--config", path("config.toml"), "--print-config"});
  EXPECT_EQ(printed.out, again.out);
  const auto flag_wins =
      run_well({"pretrain", "--config", path("config.toml"), "--epochs", "77", "--print-config"});
  EXPECT_NE(flag_wins.out.find("epochs = 77"), std::string::npos) << flag_wins.out;
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(CommandsTest, ConfigurationFilesKeepOddCharactersInStrings) {
  const std::string odd = "a#b, \"c\" [d] = \\e 'f'; g";
  const auto printed = run_well({"pretrain", "--source", odd, "--out", "x y", "--print-config"});
  write_file(path("odd.toml"), printed.out + "# a \"comment\n");
  const auto again = run_well({"pretrain", "--config", path("odd.toml"), "--print-config"});
  EXPECT_EQ(printed.out, again.out);
  write_file(path("literal.toml"), "source = 'a#b\\n'  # literal\n");
  const auto literal = run_well({"pretrain", "--config", path("literal.toml"), "--print-config"});
  EXPECT_NE(literal.out.find("source = \"a#b\\\\n\"\n"), std::string::npos) << literal.out;
}

TEST_F(CommandsTest, PretrainRefusesAFolderWithOtherFilesAndLeavesThemAlone) {
  fs::create_directories(path("mine"));
  write_file(path("mine") + "/notes.next", "precious");
  write_file(path("mine") + "/events.jsonl", "precious");
  const auto result = run_proca(pretrain("mine"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("holds notes.next"), std::string::npos) << result.err;
  EXPECT_EQ(read_text_file(path("mine") + "/notes.next"), "precious");
  EXPECT_EQ(read_text_file(path("mine") + "/events.jsonl"), "precious");
}

TEST_F(CommandsTest, TrainingDoesNotGoOnWithOtherImages) {
  const auto words = [&](const std::string& source) {
    return std::vector<std::string>{
        "pretrain",   "--source",     path(source),   "--out", path("other"),
        "--backbone", "resnet-small", "--image-size", "16",    "--epochs",
        "1"};
  };
  test::write_bars(*shared_ / "changing", 8);
  run_well(words("changing"));
  fs::remove(path("changing") + "/level/0.png");
  const auto result = run_proca(words("changing"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("24 in 3 classes"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("23 in 3 classes"), std::string::npos) << result.err;
}

TEST_F(CommandsTest, AFullDiskBehindStandardOutputIsAnError) {
  const int status =
      std::system((std::string(PROCA_PROGRAM) + " methods > /dev/full 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(CommandsTest, HelpNamesDefaultsAndRanges) {
  const auto help = run_well({"pretrain", "--help"});
  EXPECT_NE(help.out.find("--epochs"), std::string::npos);
  EXPECT_NE(help.out.find("default 32"), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("0 to 0.9"), std::string::npos) << help.out;
}

}  // namespace
}  // namespace proca
