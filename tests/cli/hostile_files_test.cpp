// Files from others, and files in the wrong place: refused in one sentence, and nothing else on
// the disk changes.

#include <cmath>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/files/text_checksum.h"
#include "models/weights/safetensors.h"
#include "proca/core/file.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::run_proca;
using Words = std::vector<std::string>;

class HostileFilesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "bars", 4);
    test::run_well({"pretrain", "--source", path("bars"), "--out", path("state"), "--backbone",
                    "resnet-small", "--image-size", "16", "--epochs", "1", "--batch-size", "4"});
    test::run_well({"export", "--state", path("state"), "--format", "safetensors", "--out",
                    path("weights.safetensors")});
    test::run_well({"data", "list", path("bars"), "--out", path("bars.txt")});
    test::run_well(
        {"report", path("state"), "--out", path("report.html"), "--json", path("report.json")});
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  // One sentence with `part`, exit code 2.
  static void expect_refused(const Words& words, const std::string& part) {
    const auto result = run_proca(words);
    EXPECT_EQ(result.exit_code, 2) << part << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find('\n', result.err.find("error: ")), result.err.size() - 1)
        << result.err;
  }

  // The content of every file below a folder.
  static std::map<std::string, std::string> contents(const std::string& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path(folder))) {
      if (entry.is_regular_file()) all[entry.path().string()] = read_text_file(entry.path());
    }
    return all;
  }

  static inline test::TemporaryFolder* shared_ = nullptr;
};

// Nobody writes to the pipe: opening it would wait for ever.
TEST_F(HostileFilesTest, APipeWhereAFileShouldBeIsRefused) {
  fs::create_directories(path("pipes/class"));
  fs::create_directories(path("pipes/more"));
  test::write_png(path("pipes/more/a.png"), test::bar_image(0, 0));
  for (const auto* name : {"pipes/class/a.png", "pipe.pth", "pipe.toml", "pipe.json", "pipe"}) {
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0644), 0);
  }
  write_file(path("pipes.txt"), "pipes/class/a.png 0\n");
  fs::copy(path("state"), path("pipe-state"), fs::copy_options::recursive);
  fs::remove(path("pipe-state/state.json"));
  ASSERT_EQ(::mkfifo(path("pipe-state/state.json").c_str(), 0644), 0);
  expect_refused({"predict", "--state", path("state"), path("pipes/class")},
                 "a.png: is not a file");
  expect_refused({"data", "verify", path("pipes.txt")}, "a.png");
  expect_refused({"data", "verify", path("pipe")}, "pipe: is not a file");
  expect_refused(
      {"predict", path("bars"), "--backbone", "resnet-small", "--weights", path("pipe.pth")},
      "pipe.pth: is not a file");
  expect_refused({"data", "verify", path("bars"), "--config", path("pipe.toml")},
                 "pipe.toml: is not a file");
  expect_refused({"report", path("pipe.json"), "--out", path("none.html")},
                 "pipe.json: is not a file");
  expect_refused({"inspect", "--state", path("pipe-state")}, "state.json: is not a file");
}

TEST_F(HostileFilesTest, OutputsThatAreInputsOrPartOfAStateAreRefused) {
  const auto before = contents("");
  const struct {
    Words words;
    std::string out, why;
  } cases[] = {
      {{"export", "--state", path("state")}, "state/model.safetensors", "it belongs to a state"},
      {{"export", "--state", path("state")}, "state/state.json", "it belongs to a state"},
      {{"export", "--state", path("state")},
       "state/steps/01/metrics.json",
       "it belongs to a state"},
      {{"export", "--backbone", "resnet-small", "--weights", path("weights.safetensors")},
       "weights.safetensors",
       "the command reads it"},
      {{"predict", "--state", path("state"), path("bars.txt")}, "bars.txt", "the command reads it"},
      {{"predict", "--state", path("state"), path("bars/level")},
       "bars/level/0.png",
       "it is an image"},
      {{"predict", "--state", path("state"), path("bars/level")},
       "state/config.toml",
       "it belongs to a state"},
      {{"data", "pack", path("bars.txt")}, "bars.txt", "the command reads it"},
      {{"data", "list", path("bars")}, "bars/frame/1.png", "it is an image"},
      {{"report", path("state")}, "state/events.jsonl", "it belongs to a state"},
      {{"report", path("report.json")}, "report.json", "the command reads it"},
  };
  for (const auto& [words, out, why] : cases) {
    auto all = words;
    all.insert(all.end(), {"--out", path(out)});
    expect_refused(all, path(out) + ": is not overwritten: " + why);
  }
  expect_refused({"report", path("state"), "--out", path("state/report.html"), "--json",
                  path("state/state.json")},
                 "state.json: is not overwritten");
  expect_refused({"evaluate", "--state", path("state"), "--data", path("bars.txt"), "--confusion",
                  path("bars.txt")},
                 "bars.txt: is not overwritten: the command reads it");
  fs::create_directories(path("inbox"));
  for (const auto* file : {"model.safetensors", "watch.json", "watch.jsonl", "watch.lock"}) {
    expect_refused({"watch", "--state", path("state"), "--inbox", path("inbox"), "--keep", "--once",
                    "--report", path("state") + "/" + file},
                   std::string(file) + ": is not overwritten: it belongs to a state");
  }
  fs::remove_all(path("inbox"));
  EXPECT_EQ(contents(""), before);
  // The page beside a state is ours to write, and to write again.
  for (int i = 0; i < 2; ++i) {
    test::run_well({"report", path("state"), "--out", path("state/report.html")});
  }
  fs::remove(path("state/report.html"));
}

// It begins with the two letters of a BMP.
TEST_F(HostileFilesTest, AListOfACarIsNoImage) {
  write_file(path("cars.txt"), "BMW/1.jpg 0\n");
  test::run_well({"data", "list", path("bars"), "--out", path("cars.txt")});
  EXPECT_EQ(read_text_file(path("cars.txt")), read_text_file(path("bars.txt")));
  fs::remove(path("cars.txt"));
}

TEST_F(HostileFilesTest, WeightsThatAreNoNumbersGiveNoAnswersAndNoModels) {
  auto file = models::read_weight_file(path("weights.safetensors"));
  const struct {
    std::string name, tensor;
    double value;
  } cases[] = {{"nan", "fc.weight", NAN},
               {"infinite", "conv1.weight", INFINITY},
               {"negative", "bn1.running_var", -1}};
  for (const auto& [name, tensor, value] : cases) {
    auto tensors = file.tensors;
    tensors[tensor] = torch::full_like(tensors.at(tensor), value);
    const auto weights = path(name + ".safetensors");
    models::write_safetensors(weights, tensors, file.metadata);
    const auto why = weights + ": \"" + tensor + "\" has ";
    expect_refused({"predict", path("bars"), "--backbone", "resnet-small", "--weights", weights},
                   why);
    expect_refused(
        {"evaluate", "--data", path("bars"), "--backbone", "resnet-small", "--weights", weights},
        why);
    expect_refused({"export", "--backbone", "resnet-small", "--weights", weights, "--out",
                    path("exported.onnx")},
                   why);
    expect_refused({"pretrain", "--source", path("bars"), "--out", path("trained"), "--backbone",
                    "resnet-small", "--image-size", "16", "--weights", weights},
                   why);
    EXPECT_FALSE(fs::exists(path("exported.onnx")));
    EXPECT_FALSE(fs::exists(path("trained")));
  }
  // Finite, but not what comes of them.
  auto tensors = file.tensors;
  tensors["fc.bias"] = torch::full_like(tensors.at("fc.bias"), 3e38);
  tensors["fc.weight"] = torch::full_like(tensors.at("fc.weight"), 3e38);
  models::write_safetensors(path("huge.safetensors"), tensors, file.metadata);
  const Words huge = {"--backbone", "resnet-small", "--weights", path("huge.safetensors")};
  Words predict = {"predict", path("bars/level"), "--out", path("huge.csv")};
  predict.insert(predict.end(), huge.begin(), huge.end());
  expect_refused(predict, "0.png: the network's output is not a finite number");
  EXPECT_FALSE(fs::exists(path("huge.csv")));
  Words evaluate = {"evaluate", "--data", path("bars")};
  evaluate.insert(evaluate.end(), huge.begin(), huge.end());
  expect_refused(evaluate, "the network's output is not a finite number");
  tensors["fc.bias"] = torch::empty({0});
  tensors["fc.weight"] = torch::empty({0, file.tensors.at("fc.weight").size(1)});
  models::write_safetensors(path("nothing.safetensors"), tensors, {});
  expect_refused({"predict", path("bars"), "--backbone", "resnet-small", "--weights",
                  path("nothing.safetensors")},
                 "its classifier (fc.weight) is for 0 classes");
}

// What a state must not do: run a program from elsewhere.
TEST_F(HostileFilesTest, AStateRunsNoScriptButItsOwn) {
  fs::copy(path("state"), path("forged"), fs::copy_options::recursive);
  auto text = read_text_file(path("forged/state.json"));
  const std::string backbone = "\"backbone\": \"resnet-small\"";
  text.replace(text.find(backbone), backbone.size(), "\"backbone\": \"script:../module.pt\"");
  text.erase(text.rfind(",\n  \"crc32\""));
  write_file(path("forged/state.json"), append_json_checksum(text + "\n}\n"));
  write_file(path("module.pt"), "not loaded");
  for (const auto& words : {Words{"predict", path("bars"), "--state", path("forged")},
                            Words{"export", "--state", path("forged"), "--out", path("x.onnx")},
                            Words{"adapt", "--target", path("bars"), "--state", path("forged")},
                            Words{"inspect", "--state", path("forged")}}) {
    expect_refused(words,
                   "the backbone \"script:../module.pt\" is not the state's own backbone.pt");
  }
}

TEST_F(HostileFilesTest, NothingIsWrittenThroughLinksOfAState) {
  write_file(path("precious"), "text");
  fs::create_directory(path("elsewhere"));
  for (const auto* name : {"lock", "events.jsonl", "steps"}) {
    SCOPED_TRACE(name);
    const auto state = path(std::string("linked-") + name);
    fs::copy(path("state"), state, fs::copy_options::recursive);
    fs::remove(fs::path(state) / name);
    if (std::string(name) == "steps") {
      fs::create_directory(fs::path(state) / "steps");
      fs::create_directory_symlink(path("elsewhere"), fs::path(state) / "steps" / "01");
    } else {
      fs::create_symlink(path("precious"), fs::path(state) / name);
    }
    expect_refused({"adapt", "--state", state, "--target", path("bars"), "--epochs", "1",
                    "--batch-size", "4", "--prototypes", "1"},
                   "it is a link to elsewhere");
    EXPECT_EQ(read_text_file(path("precious")), "text");
    EXPECT_TRUE(fs::is_empty(path("elsewhere")));
  }
}

}  // namespace
}  // namespace proca
