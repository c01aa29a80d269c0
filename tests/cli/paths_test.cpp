// Every way to write a path, for every option that takes one. Tab completion writes `state/`.

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// One way to write the path of `name`, which lies in the folder `d`.
struct Spelling {
  const char* title;
  std::string (*spell)(const fs::path& folder, const std::string& name);
};

const std::vector<Spelling> kSpellings = {
    {"x/", [](const fs::path&, const std::string& name) { return name + "/"; }},
    {"./x", [](const fs::path&, const std::string& name) { return "./" + name; }},
    {"./x/", [](const fs::path&, const std::string& name) { return "./" + name + "/"; }},
    {"d//x", [](const fs::path&, const std::string& name) { return "..//d//" + name; }},
    {"../d/x/", [](const fs::path&, const std::string& name) { return "../d/" + name + "/"; }},
    {"absolute",
     [](const fs::path& folder, const std::string& name) { return (folder / name).string(); }},
    {"absolute/", [](const fs::path& folder,
                     const std::string& name) { return (folder / name).string() + "/"; }},
};

class PathsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    fs::create_directories(folder());
    test::write_bars(folder() / "bars", 4);
    test::write_bars(folder() / "target", 3);
    fs::create_directories(folder() / "new");
    fs::copy(folder() / "bars/level/0.png", folder() / "new/0.png");
    write_file(folder() / "own.toml",
               "summary = \"bars\"\nclasses-per-step = 1\nsteps = 2\n"
               "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\nepochs = 1\n"
               "[adapt]\nepochs = 1\nbatch-size = 4\n[method]\nprototypes = 2\n");
    in_folder(small({"pretrain", "--source", "bars", "--out", "trained", "--backbone",
                     "resnet-small", "--image-size", "16"}));
    in_folder({"export", "--state", "trained", "--format", "safetensors", "--out",
               "weights.safetensors"});
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }

  static fs::path folder() { return *shared_ / "d"; }

  // Runs the program in `place`, the folder `d` if none is given.
  static test::ProgramResult in_folder(const Words& words, const fs::path& place = folder()) {
    std::string shown = "proca";
    for (const auto& word : words) shown += " " + word;
    SCOPED_TRACE(shown);
    return test::run_well(words, "cd " + test::shell_quoted(place.string()) + " &&");
  }
  static Words small(Words words) {
    words.insert(words.end(), {"--epochs", "1", "--batch-size", "4", "--threads", "1"});
    return words;
  }
  static void expect_committed(const fs::path& state) {
    EXPECT_TRUE(fs::exists(state / "state.json")) << state;
    for (const auto& entry : fs::recursive_directory_iterator(state)) {
      EXPECT_NE(entry.path().extension(), ".next") << entry.path();
    }
  }
  static void expect_same_file(const fs::path& one, const fs::path& other) {
    EXPECT_EQ(read_text_file(one), read_text_file(other)) << one << " and " << other;
  }

  // Without the folder in front of the image's name, which is shown as it was given.
  static std::string predictions(const std::string& file) {
    const auto text = read_text_file(folder() / file);
    const auto line = text.find('\n') + 1, name = text.find("0.png");
    return text.substr(0, line) + text.substr(name);
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* PathsTest::shared_ = nullptr;

TEST_F(PathsTest, ModelsAreTrainedAdaptedAndUsed) {
  int number = 0;
  for (const auto& [title, spell] : kSpellings) {
    SCOPED_TRACE(title);
    const auto at = [&, &spell = spell](const std::string& name) { return spell(folder(), name); };
    const auto id = std::to_string(++number);
    const auto state = "state-" + id;
    in_folder(small({"pretrain", "--source", at("bars"), "--out", at(state), "--backbone",
                     "resnet-small", "--image-size", "16", "--weights", at("weights.safetensors"),
                     "--tensorboard", at("tb-" + id)}));
    expect_committed(folder() / state);
    EXPECT_FALSE(fs::is_empty(folder() / ("tb-" + id)));
    const auto adapt =
        small({"adapt", "--state", at(state), "--target", at("target"), "--prototypes", "2",
               "--frozen-cache", at("cache-" + id), "--start-weights", at("weights.safetensors"),
               "--tensorboard", at("tb-" + id)});
    in_folder(adapt);
    expect_committed(folder() / state);
    EXPECT_TRUE(fs::exists(folder() / ("cache-" + id)));
    EXPECT_NE(in_folder(adapt).out.find("already"), std::string::npos);
    const auto inspected = in_folder({"inspect", "--state", at(state), "--json"}).out;
    EXPECT_EQ(nlohmann::json::parse(inspected).at("steps"), 1);
    in_folder({"predict", at("new"), "--state", at(state), "--out", at("predicted-" + id)});
    in_folder({"evaluate", "--data", at("bars"), "--state", at(state)});
    in_folder(
        {"export", "--state", at(state), "--format", "safetensors", "--out", at("model-" + id)});
    in_folder({"report", at(state), "--out", at("page-" + id), "--json", at("data-" + id)});
    EXPECT_TRUE(fs::is_regular_file(folder() / ("page-" + id)));
    EXPECT_TRUE(fs::is_regular_file(folder() / ("data-" + id)));
    expect_same_file(folder() / "model-1", folder() / ("model-" + id));
    EXPECT_EQ(predictions("predicted-1"), predictions("predicted-" + id));
  }
}

TEST_F(PathsTest, TheCurrentFolderIsAFolder) {
  const auto state = folder() / "here";
  fs::create_directories(state);
  in_folder(small({"pretrain", "--source", "../bars/", "--out", ".", "--backbone", "resnet-small",
                   "--image-size", "16"}),
            state);
  expect_committed(state);
  expect_same_file(state / "model.safetensors", folder() / "trained/model.safetensors");
  in_folder(small({"adapt", "--state", ".", "--target", "../target", "--prototypes", "2"}), state);
  expect_committed(state);
  in_folder({"inspect", "--state", "./"}, state);
  in_folder({"report", ".", "--out", "../here.html"}, state);
  in_folder({"evaluate", "--data", ".", "--state", "../here"}, folder() / "bars");
  in_folder({"predict", ".", "--state", "../here", "--out", "../here.csv"}, folder() / "new");
  in_folder({"data", "verify", "."}, folder() / "bars");
  in_folder(small({"pretrain", "--source", ".", "--out", "../from-here", "--backbone",
                   "resnet-small", "--image-size", "16"}),
            folder() / "bars");
  in_folder(small({"adapt", "--state", "../from-here", "--target", ".", "--prototypes", "2"}),
            folder() / "target");
  const auto empty = folder() / "empty";
  fs::create_directories(empty);
  in_folder(
      {"data", "make-demo", "--out", ".", "--source-per-class", "1", "--target-per-class", "1"},
      empty);
  EXPECT_TRUE(fs::exists(empty / "sketch/boat/0001.png"));
}

TEST_F(PathsTest, ProtocolsAndTheirParts) {
  int number = 0;
  for (const auto& [title, spell] : kSpellings) {
    SCOPED_TRACE(title);
    const auto at = [&, &spell = spell](const std::string& name) { return spell(folder(), name); };
    const auto out = "run-" + std::to_string(++number);
    const Words run = {"run",           "--preset",       at("own.toml"), "--data-root", at("../d"),
                       "--source",      "bars/",          "--target",     "./target",    "--out",
                       at(out),         "--source-state", at("trained"),  "--threads",   "1",
                       "--tensorboard", at("tb-" + out)};
    in_folder(run);
    EXPECT_TRUE(fs::exists(folder() / out / "report.html"));
    EXPECT_TRUE(fs::exists(folder() / ("tb-" + out) / out / "seed-0"));
    expect_committed(folder() / out / "seed-0");
    in_folder({"report", at(out), "--out", at("page-" + out)});
    in_folder(run);  // Everything is there already.
    expect_same_file(folder() / "run-1/seed-0/model.safetensors",
                     folder() / out / "seed-0/model.safetensors");
  }
}

TEST_F(PathsTest, DataSets) {
  int number = 0;
  for (const auto& [title, spell] : kSpellings) {
    SCOPED_TRACE(title);
    const auto at = [&, &spell = spell](const std::string& name) { return spell(folder(), name); };
    const auto id = std::to_string(++number);
    in_folder({"data", "verify", at("bars")});
    in_folder({"data", "list", at("bars"), "--out", at("list-" + id + ".txt")});
    expect_same_file(folder() / "list-1.txt", folder() / ("list-" + id + ".txt"));
    in_folder({"data", "verify", at("list-" + id + ".txt"), "--root", at(".")});
    in_folder({"data", "pack", at("bars"), "--out", at("packed-" + id), "--image-size", "16"});
    in_folder({"data", "verify", at("packed-" + id)});
    in_folder({"data", "make-demo", "--out", at("drawn-" + id), "--source-per-class", "1",
               "--target-per-class", "1"});
    expect_same_file(folder() / "drawn-1/photo/boat/0001.png",
                     folder() / ("drawn-" + id) / "photo/boat/0001.png");
    in_folder({"bench", "decode", at("bars"), "--threads", "1"});
  }
}

TEST_F(PathsTest, ExperimentsOfOnesOwn) {
  write_file(folder() / "table.toml",
             "title = \"Mine\"\npreset = \"own.toml\"\nview = \"tasks\"\nmetrics = "
             "[\"final\"]\nseeds = [0]\n"
             "[tasks]\n\"B->T\" = [\"bars\", \"target\"]\n"
             "[run.\"Source only\"]\nmethod = \"source-only\"\n");
  int number = 0;
  for (const auto& [title, spell] : kSpellings) {
    SCOPED_TRACE(title);
    const auto at = [&, &spell = spell](const std::string& name) { return spell(folder(), name); };
    const auto out = "table-" + std::to_string(++number);
    in_folder({"reproduce", at("table.toml"), "--data-root", at("../d"), "--out", at(out),
               "--weights", at("weights.safetensors"), "--jobs", "1"});
    EXPECT_TRUE(fs::exists(folder() / out / "table.txt"));
    expect_same_file(folder() / "table-1/table.csv", folder() / out / "table.csv");
  }
}

// A path in a configuration file is written as freely as on the command line.
TEST_F(PathsTest, ConfigurationFiles) {
  fs::copy(folder() / "trained", folder() / "configured", fs::copy_options::recursive);
  write_file(folder() / "adapt.toml", "state = \"./configured/\"\ntarget = \"..//d/target/\"\n");
  for (const auto* config : {"adapt.toml", "./adapt.toml", "..//d//adapt.toml", "adapt.toml/"}) {
    const auto shown = in_folder({"adapt", "--config", config, "--print-config"}).out;
    EXPECT_NE(shown.find("state = \"configured\"\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("target = \"../d/target\"\n"), std::string::npos) << shown;
  }
  in_folder(small({"adapt", "--config", "./adapt.toml", "--prototypes", "2"}));
  expect_committed(folder() / "configured");
}

}  // namespace
}  // namespace proca
