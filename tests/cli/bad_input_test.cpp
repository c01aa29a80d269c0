// Every mistake a user can make at the command line: one clear sentence, exit
// code 2, nothing written.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::run_proca;

struct BadCase {
  std::string what;
  std::vector<std::string> words;  // `{}` stands for the folder of the fixture
  std::string message;             // part of the sentence
};

class BadInputTest : public ::testing::Test {
 protected:
  BadInputTest() {
    test::write_bars(folder_ / "bars", 4);
    test::write_bars(folder_ / "one", 4, 1);
    fs::create_directories(folder_ / "empty");
    fs::create_directories(folder_ / "flat");
    test::write_png(folder_ / "flat" / "a.png", test::bar_image(0, 0));
    fs::create_directories(folder_ / "mixed" / "class");
    test::write_png(folder_ / "mixed" / "a.png", test::bar_image(0, 0));
    test::write_png(folder_ / "mixed" / "class" / "a.png", test::bar_image(0, 0));
    test::write_bars(folder_ / "broken", 4);
    write_file(folder_ / "broken" / "level" / "0.png", "not a picture");
    write_file(folder_ / "mixed.txt", "bars/level/0.png 0\nbars/level/1.png\n");
    write_file(folder_ / "missing.txt", "bars/level/0.png 0\nbars/level/99.png 1\n");
    write_file(folder_ / "label.txt", "bars/level/0.png 0\nbars/level/1.png 7\n");
    write_file(folder_ / "weights.pth", "these are no weights");
    write_file(folder_ / "bad.toml", "epochs = 3\nepoch = 4\n");
    write_file(folder_ / "range.toml", "epochs = 0\n");
    write_file(folder_ / "file", "a file where a folder should be");
    fs::create_directories(folder_ / "notstate");
  }

  std::vector<std::string> filled(std::vector<std::string> words) const {
    for (auto& word : words) {
      const auto place = word.find("{}");
      if (place != std::string::npos) word.replace(place, 2, folder_.path().string());
    }
    return words;
  }

  void expect_refused(const BadCase& bad) const {
    SCOPED_TRACE(bad.what);
    const auto result = run_proca(filled(bad.words));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(bad.message), std::string::npos) << result.err;
    // One sentence: the last line, which is the only error.
    EXPECT_EQ(result.err.find("error: "), result.err.rfind("error: ")) << result.err;
    EXPECT_EQ(result.err.find('\n', result.err.find("error: ")), result.err.size() - 1)
        << result.err;
    EXPECT_FALSE(fs::exists(folder_ / "out")) << "something was written";
  }

  test::TemporaryFolder folder_;
};

// A training that would work, but for what a case adds.
std::vector<std::string> pretrain(const std::string& source, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {
      "pretrain",     "--source",     source, "--out",    "{}/out", "--backbone",
      "resnet-small", "--image-size", "16",   "--epochs", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(BadInputTest, UsageMistakesAreRefused) {
  const std::vector<BadCase> cases = {
      {"no data command", {"data"}, "a command is missing: verify"},
      {"flag in front", {"--quiet", "adapt"}, "--quiet: a command comes first"},
      {"no value", {"adapt", "--state"}, "--state: its value is missing"},
      {"a flag as value", {"adapt", "--state", "--again"}, "is missing in front of --again"},
      {"value of a switch", {"adapt", "--again=yes"}, "--again: \"yes\" must be true or false"},
      {"a word too many", {"adapt", "more"}, "unexpected argument \"more\""},
      {"unknown command", {"pretrian"}, "did you mean pretrain?"},
      {"unknown data command", {"data", "verfy"}, "did you mean verify?"},
      {"unknown flag", pretrain("{}/bars", {"--epoch", "3"}), "did you mean --epochs?"},
      {"missing option", {"pretrain", "--source", "{}/bars"}, "--out is missing"},
      {"missing path", {"data", "verify"}, "path is missing"},
      {"not a number", pretrain("{}/bars", {"--lr", "fast"}), "--lr: \"fast\" is not a number"},
      {"below the range", pretrain("{}/bars", {"--holdout", "-1"}), "must be 0 to 0.9"},
      {"not a choice", pretrain("{}/bars", {"--schedule", "linear"}), "constant, cosine"},
      {"bad bytes", pretrain("{}/bars", {"--cache-ram", "4GB"}), "--cache-ram"},
      {"bad GPU bytes", pretrain("{}/bars", {"--cache-gpu", "half"}), "--cache-gpu: \"half\""},
      {"too many threads", pretrain("{}/bars", {"--threads", "4096"}), "--threads: 4096 is more"},
      {"bad device", pretrain("{}/bars", {"--device", "gpu"}), "auto, cpu, cuda, cuda:N"},
      {"given twice", pretrain("{}/bars", {"--seed", "1", "--seed", "2"}), "--seed"},
      {"unknown key", pretrain("{}/bars", {"--config", "{}/bad.toml"}),
       "bad.toml:2: unknown key \"epoch\"; did you mean \"epochs\"?"},
      {"empty config", pretrain("{}/bars", {"--config="}), "--config: names no file"},
      {"missing config", pretrain("{}/bars", {"--config", "{}/none.toml"}), "none.toml"},
      {"unknown backbone", pretrain("{}/bars", {"--backbone", "resnet5"}), "resnet5"},
      {"resize below crop", pretrain("{}/bars", {"--resize", "12"}), "--resize: 12 is smaller"},
      {"no model", {"predict", "{}/flat"}, "--state DIR, or --backbone NAME and --weights FILE"},
      {"neither epochs nor weights",
       {"pretrain", "--source", "{}/bars", "--out", "{}/out", "--epochs", "0"},
       "--weights is not given"},
      {"two models",
       {"predict", "{}/flat", "--state", "{}/x", "--weights", "{}/y"},
       "cannot be combined"},
  };
  for (auto bad : cases) {
    // `--backbone` twice would be refused for that.
    if (bad.what == "unknown backbone") {
      bad.words = {"pretrain", "--source", "{}/bars", "--out", "{}/out", "--backbone", "resnet5"};
    }
    expect_refused(bad);
  }
}

TEST_F(BadInputTest, UnusableImagesAreRefused) {
  const std::vector<BadCase> cases = {
      {"missing folder", pretrain("{}/nowhere"), "nowhere: does not exist"},
      {"empty folder", pretrain("{}/empty"), "holds no image"},
      {"unlabelled", pretrain("{}/flat"), "have no labels"},
      {"one class", pretrain("{}/one"), "has only one class, \"upright\""},
      {"mixed", pretrain("{}/mixed"), "holds both images"},
      {"broken image", pretrain("{}/broken"), "broken/level/0.png"},
      {"half labelled", pretrain("{}/mixed.txt"), "mixed.txt:2: has no label"},
      {"missing image", pretrain("{}/missing.txt"), "missing.txt:2:"},
      {"bad weights", pretrain("{}/bars", {"--weights", "{}/weights.pth"}), "weights.pth"},
      {"missing weights", pretrain("{}/bars", {"--weights", "{}/no.pth"}), "no.pth"},
      {"missing script",
       {"pretrain", "--source", "{}/bars", "--out", "{}/out", "--backbone", "script:{}/no.pt"},
       "no.pt"},
      {"verify a broken set", {"data", "verify", "{}/broken"}, "1 of 12 images cannot be decoded"},
      {"pack a broken set", {"data", "pack", "{}/broken", "--out", "{}/out"}, "level/0.png"},
  };
  for (const auto& bad : cases) expect_refused(bad);
}

TEST_F(BadInputTest, UnusablePlacesAreRefused) {
  const std::vector<BadCase> cases = {
      {"output below a file",
       {"pretrain", "--source", "{}/bars", "--out", "{}/file/out", "--backbone", "resnet-small",
        "--image-size", "16"},
       "file/out"},
      {"not a state", {"inspect", "--state", "{}/notstate"}, "is not a state directory"},
      {"a name too long for a file",
       {"inspect", "--state", std::string(300, 'x')},
       "no such state directory"},
      {"missing state", {"inspect", "--state", "{}/none"}, "no such state directory"},
      {"predict into a folder that is not there",
       {"data", "list", "{}/bars", "--out", "{}/none/list.txt"},
       "none/list.txt: cannot be written"},
      {"demo over other files", {"data", "make-demo", "--out", "{}/bars"}, "bars"},
  };
  for (const auto& bad : cases) expect_refused(bad);
}

// A run that would work, but for what a case changes.
std::vector<std::string> run(const std::string& preset, const std::string& source,
                             const std::string& target, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"run",          "--preset",     preset,   "--data-root",
                                    "{}",           "--source",     source,   "--target",
                                    target,         "--out",        "{}/out", "--backbone",
                                    "resnet-small", "--image-size", "16"};
  if (std::find(more.begin(), more.end(), "--method") == more.end()) {
    words.insert(words.end(), {"--method", "proca"});
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(BadInputTest, RunsAndStepsThatCannotBeAreRefused) {
  write_file(folder_ / "own.toml", "classes-per-step = 1\nsteps = 3\n");
  write_file(folder_ / "long.toml", "classes-per-step = 2\nsteps = 2\n");
  write_file(folder_ / "typo.toml", "classes-per-step = 1\nstep = 3\n");
  write_file(folder_ / "option.toml", "classes-per-step = 1\nsteps = 3\n[adapt]\nepoch = 3\n");
  write_file(folder_ / "class.toml",
             "classes-per-step = 1\nsteps = 2\nclass-order = [\"level\", \"slanted\"]\n");
  write_file(folder_ / "method.toml", "classes-per-step = 1\nsteps = 3\n[method]\nalhpa = 0.2\n");
  write_file(folder_ / "variant.toml",
             "classes-per-step = 1\nsteps = 3\n[method.authors]\nalpha = 0.2\n");
  write_file(folder_ / "value.toml",
             "classes-per-step = 1\nsteps = 3\n[method]\nalpha = \"much\"\n");
  const std::vector<BadCase> cases = {
      {"unknown preset", run("ofice31-ci", "bars", "bars"), "did you mean \"office31-ci\"?"},
      {"missing preset file", run("{}/no.toml", "bars", "bars"), "no.toml"},
      {"typo in a preset", run("{}/typo.toml", "bars", "bars"), "typo.toml:2"},
      {"unknown option in a preset", run("{}/option.toml", "bars", "bars"), "epoch"},
      {"bad value in a preset", run("{}/value.toml", "bars", "bars"),
       "preset value, [method]: --alpha: \"much\""},
      {"too many classes", run("{}/long.toml", "bars", "bars"), "more than the 3 classes"},
      {"missing domain", run("{}/own.toml", "bars", "bats"), "bats"},
      {"missing data", run("office31-ci", "amazon", "webcam"), "amazon"},
      {"classes the source does not have", run("{}/class.toml", "bars", "bars"), "slanted"},
      {"a variant nobody has", run("{}/variant.toml", "bars", "bars"), "[method.authors]"},
      {"a method option nobody has", run("{}/method.toml", "bars", "bars"), "alhpa"},
      {"unlabelled target", run("{}/own.toml", "bars", "flat"), "have no labels"},
      {"unknown method", run("{}/own.toml", "bars", "bars", {"--method", "procca"}),
       "did you mean \"proca\"?"},
      {"another method's option",
       run("{}/own.toml", "bars", "bars", {"--method", "source-only", "--alpha", "0.2"}),
       "--alpha: source-only has no such option"},
      {"alpha out of range", run("{}/own.toml", "bars", "bars", {"--alpha", "2"}), "--alpha"},
      {"a seed that is no number", run("{}/own.toml", "bars", "bars", {"--seeds", "0,x"}),
       "--seeds: \"x\""},
      {"a seed twice", run("{}/own.toml", "bars", "bars", {"--seeds", "1,1"}), "1 is given twice"},
      {"missing source state", run("{}/own.toml", "bars", "bars", {"--source-state", "{}/none"}),
       "no such state directory"},
      {"missing weights", run("{}/own.toml", "bars", "bars", {"--weights", "{}/no.pth"}), "no.pth"},
      {"adapt without a state",
       {"adapt", "--state", "{}/none", "--target", "{}/flat"},
       "no such state directory"},
      {"adapt what is no state",
       {"adapt", "--state", "{}/notstate", "--target", "{}/flat"},
       "is not a state directory"},
      {"adapt without a target", {"adapt", "--state", "{}/notstate"}, "--target is missing"},
  };
  for (const auto& bad : cases) expect_refused(bad);
}

}  // namespace
}  // namespace proca
