// What pretrain, evaluate, inspect and export say and write.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"

#include "cli/commands_fixture.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::run_proca;
using test::run_well;

// Damage that neither the size nor the time of a file shows is not noticed: nothing is decoded.
TEST_F(CommandsTest, AFinishedTrainingDecodesNoImage) {
  fs::copy(path("bars"), path("again"), fs::copy_options::recursive);
  auto words = pretrain("twice");
  words.at(2) = path("again");
  words.at(10) = "1";  // epochs
  run_well(words);
  const auto image = path("again") + "/level/3.png";
  const auto time = fs::last_write_time(image);
  const auto good = read_text_file(image);
  std::ofstream(image, std::ios::binary) << std::string(good.size(), 'x');
  fs::last_write_time(image, time);
  EXPECT_NE(run_well(words).err.find("is trained already, 1 epoch"), std::string::npos);
  fs::last_write_time(image, time + std::chrono::seconds(1));
  EXPECT_EQ(run_proca(words).exit_code, 2);
  write_file(image, good);  // another time, but the same pixels
  EXPECT_NE(run_well(words).err.find("is trained already"), std::string::npos);
}

TEST_F(CommandsTest, EvaluateHasEveryFigureAndTheConfusion) {
  const auto csv = path("confusion.csv");
  const auto result = run_well(
      {"evaluate", "--state", path("state"), "--data", path("bars"), "--json", "--confusion", csv});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("top5_accuracy_percent"), 100.0);  // there are three classes
  EXPECT_GE(json.at("macro_f1_percent"), 90.0);
  EXPECT_GE(json.at("classes").at(0).at("f1_percent"), 80.0);
  EXPECT_LE(json.at("calibration_error_percent"), 50.0);
  const auto text = read_text_file(csv);
  EXPECT_EQ(text.substr(0, text.find('\n')), "true class,frame,level,upright");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  const auto table = run_well({"evaluate", "--state", path("state"), "--data", path("bars")}).out;
  for (const char* figure : {"macro F1", "calibration error: ", "accuracy: "}) {
    EXPECT_NE(table.find(figure), std::string::npos) << table;
  }
}

TEST_F(CommandsTest, EvaluateLeavesOutClassesTheModelDoesNotKnow) {
  fs::copy(path("bars"), path("more"), fs::copy_options::recursive);
  fs::create_directories(path("more") + "/mushroom");
  fs::copy_file(path("bars") + "/level/0.png", path("more") + "/mushroom/0.png");
  run_well({"data", "pack", path("more"), "--out", path("more.pack"), "--keep", "files"});
  const auto known = run_well({"evaluate", "--state", path("state"), "--data", path("bars")});
  for (const char* data : {"more", "more.pack"}) {
    const auto result = run_well({"evaluate", "--state", path("state"), "--data", path(data)});
    EXPECT_NE(result.err.find("the model has no class \"mushroom\"; its image is left out"),
              std::string::npos)
        << result.err;
    const auto line = result.out.find("left out: 1 image of 1 class");
    ASSERT_NE(line, std::string::npos) << result.out;
    EXPECT_EQ(result.out.substr(result.out.rfind("accuracy: ")),
              known.out.substr(known.out.rfind("accuracy: ")));
  }
}

TEST_F(CommandsTest, ListsMayNameClasses) {
  write_file(path("names.csv"), "path,label\nbars/frame/0.png,frame\nbars/level/1.png,level\n");
  const auto json = nlohmann::json::parse(
      run_well({"evaluate", "--state", path("state"), "--data", path("names.csv"), "--json"}).out);
  EXPECT_EQ(json.at("classes").at(1).at("class"), "level");
}

TEST_F(CommandsTest, InspectTakesTheStateWithAndWithoutItsFlag) {
  const auto flag = run_well({"inspect", "--state", path("state")}).out;
  EXPECT_EQ(run_well({"inspect", path("state")}).out, flag);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"inspect"}, {"inspect", path("state"), path("state")}}) {
    EXPECT_EQ(run_proca(words).exit_code, 2);
  }
}

TEST_F(CommandsTest, PretrainSaysWhatItWillDoAndWarnsOfFewImages) {
  EXPECT_NE(
      training_.err.find("training resnet-small from random weights: 8 epochs over 90 images, "
                         "cosine rate 0.05"),
      std::string::npos)
      << training_.err;
  EXPECT_EQ(training_.err.find("too few"), std::string::npos);
  const auto large = run_well({"pretrain", "--source", path("bars"), "--out", path("large"),
                               "--backbone", "resnet18", "--image-size", "16", "--epochs", "1"});
  EXPECT_NE(large.err.find("training resnet18 from random weights: 1 epoch over 120 images, cosine "
                           "rate 0.0125"),
            std::string::npos)
      << large.err;
  EXPECT_NE(large.err.find("120 images are too few to train a resnet18 from random weights"),
            std::string::npos)
      << large.err;
  EXPECT_NE(large.err.find("docs/guide/weights.md"), std::string::npos) << large.err;
}

TEST_F(CommandsTest, StatesRememberWhetherImagesWereTurned) {
  const auto orientation_of = [](const std::string& state) {
    const auto json = nlohmann::json::parse(read_text_file(state + "/state.json"));
    return json.at("model").at("preprocessing").at("orientation").get<std::string>();
  };
  EXPECT_EQ(orientation_of(path("state")), "upright");
  auto words = pretrain("stored", {"--orientation", "stored"});
  words.at(10) = "1";  // epochs
  run_well(words);
  EXPECT_EQ(orientation_of(path("stored")), "stored");
  // A record of it has no such option, as those of earlier versions.
  EXPECT_EQ(read_text_file(path("stored") + "/config.toml").find("orientation"), std::string::npos);
  words.erase(words.end() - 2, words.end());
  const auto other = run_proca(words);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("orientation = \"upright\" here"), std::string::npos) << other.err;
}

TEST_F(CommandsTest, ExportTakesTheFormatFromTheName) {
  const auto to = [&](const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"export", "--state", path("state"), "--out", path(name)};
    words.insert(words.end(), more.begin(), more.end());
    return run_proca(words);
  };
  EXPECT_EQ(to("named.pt").exit_code, 0);
  EXPECT_EQ(read_text_file(path("named.pt")).substr(0, 2), "PK");  // TorchScript is a zip
  EXPECT_EQ(to("named.safetensors").exit_code, 0);
  EXPECT_EQ(read_text_file(path("named.safetensors"))[8], '{');
  EXPECT_EQ(to("named", {"--format", "safetensors"}).exit_code, 0);
  const struct {
    std::string name;
    std::vector<std::string> more;
    std::string message;
  } refused[] = {
      {"wrong.pt", {"--format", "onnx"}, "is the name of another format than --format says"},
      {"wrong.onnx", {"--format", "safetensors"}, "is the name of another format"},
      {"unnamed", {}, "says no format; end it in .onnx, .pt (TorchScript) or .safetensors"},
      {"model.pth", {}, "says no format"},
  };
  for (const auto& [name, more, message] : refused) {
    const auto result = to(name, more);
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(path(name)));
  }
}

TEST_F(CommandsTest, VerifyNamesWhatIsNotSupported) {
  fs::copy(path("bars"), path("phone"), fs::copy_options::recursive);
  write_file(path("phone") + "/level/a.heic", "x");
  write_file(path("phone") + "/b.mp4", "x");
  const auto result = run_well({"data", "verify", path("phone")});
  EXPECT_NE(result.err.find("left out 2 files of kinds that are not supported (1 HEIC, 1 video)"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("not supported: " + path("phone") + "/b.mp4\n"), std::string::npos)
      << result.out;
  const auto json =
      nlohmann::json::parse(run_well({"data", "verify", path("phone"), "--json"}).out);
  EXPECT_EQ(json.at("unsupported").size(), 2u);
  // Loose files beside folders, for what needs no labels.
  write_file(path("phone") + "/loose.png", read_text_file(path("bars") + "/level/0.png"));
  EXPECT_EQ(run_proca({"data", "verify", path("phone")}).exit_code, 2);
  EXPECT_NE(run_well({"data", "verify", path("phone"), "--unlabelled"}).out.find(": 121 images"),
            std::string::npos);
}

}  // namespace
}  // namespace proca
