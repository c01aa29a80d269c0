// Experiments as a user runs them, on pictures that stand in for the benchmarks: the
// classes and steps are those of the real ones.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "core/files/csv.h"
#include "proca/core/file.h"
#include "protocol/experiment.h"
#include "protocol/preset.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/stand_in_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::run_proca;
using test::run_well;
using Words = std::vector<std::string>;

std::vector<int64_t> as_labels(const Words& words) {
  std::vector<int64_t> labels;
  for (const auto& word : words) labels.push_back(std::stoll(word));
  return labels;
}

void write_benchmarks(const fs::path& root) {
  Words office;
  for (int i = 10; i < 41; ++i) office.push_back("class-" + std::to_string(i));
  int64_t domain = 0;
  for (const auto* name : {"amazon", "dslr", "webcam"}) {
    test::write_stand_in_folder(root / name, office, 2, domain++);
  }
  const auto home = protocol::find_preset("office-home-ci");
  for (const auto* name : {"Art", "Clipart", "Product", "Real_World"}) {
    test::write_stand_in_folder(root / name, home.orders.at("").classes, 1, domain++);
  }
  const auto caltech = protocol::find_preset("imagenet-caltech-ci");
  std::vector<int64_t> all(256);
  std::iota(all.begin(), all.end(), 0);
  test::write_stand_in_list(root / "caltech_list.txt", all, 1, domain++);
  test::write_stand_in_list(root / "imagenet_84_list.txt",
                            as_labels(caltech.orders.at("caltech->imagenet").classes), 1, domain++);
  std::vector<int64_t> thousand(1000);
  std::iota(thousand.begin(), thousand.end(), 0);
  test::write_stand_in_list(root / "imagenet_train.txt", thousand, 1, domain++);
  test::write_stand_in_list(root / "caltech_84_list.txt",
                            as_labels(caltech.orders.at("imagenet->caltech").classes), 1, domain);
}

class ReproduceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    write_benchmarks(*shared_ / "data");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  // Small enough for a test: a small network that trains for an epoch.
  static Words reproduce(const std::string& name, const std::string& out, const Words& more = {},
                         const std::string& data = "data") {
    Words words = {"reproduce", name,     "--data-root", path(data),  "--out",
                   path(out),   "--jobs", "2",           "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--set", "backbone=resnet-small", "--set", "image-size=16", "--set",
                               "pretrain-epochs=1", "--set", "epochs=1", "--set", "batch-size=16"});
    return words;
  }
  static Words files_below(const std::string& folder, const std::string& name) {
    Words found;
    for (const auto& entry : fs::recursive_directory_iterator(path(folder))) {
      if (entry.path().filename() == name) found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* ReproduceTest::shared_ = nullptr;

const Words kBoth = {"--seeds", "0", "--runs", "Source only,ProCA"};

TEST_F(ReproduceTest, ListNamesTheTablesInTheOrderOfThePaper) {
  const auto list = run_well({"reproduce", "--list"}).out;
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 23);
  EXPECT_EQ(list.find("final-office-home "), 0u);
  EXPECT_NE(list.find("Final accuracy on Office-Home-CI (Table 1)"), std::string::npos) << list;
  EXPECT_LT(list.find("ablation-office31"), list.find("bars-office-home"));
}

TEST_F(ReproduceTest, AWholeTableThenAnotherOfTheSameRuns) {
  const auto first = run_well(reproduce("final-office31", "office", kBoth));
  EXPECT_NE(first.err.find("0 of 12 runs are done"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("15/15 "), std::string::npos) << first.err;  // three source models
  for (const auto* word : {"Source only", "ProCA", "A->D", "W->D", "Avg"}) {
    EXPECT_NE(first.out.find(word), std::string::npos) << word << first.out;
  }
  EXPECT_EQ(first.out, read_text_file(path("office/final-office31.txt")));
  EXPECT_NE(read_text_file(path("office/final-office31.md")).find("| ProCA"), std::string::npos);
  EXPECT_NE(read_text_file(path("office/final-office31.tex")).find("tabular"), std::string::npos);
  // The paper's number for ProCA on A->W, and ours before it.
  EXPECT_NE(read_text_file(path("office/final-office31.csv")).find("final,ProCA,A->W,"),
            std::string::npos);
  EXPECT_NE(first.out.find("82.5"), std::string::npos) << first.out;
  EXPECT_EQ(files_below("office/sources", "results.json").size(), 3u);
  EXPECT_EQ(files_below("office/runs", "results.json").size(), 12u);

  const auto again = run_well(reproduce("final-office31", "office", kBoth));
  EXPECT_EQ(again.out, first.out);
  EXPECT_NE(again.err.find("12 of 12 runs are done"), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find("/0 "), std::string::npos);

  const auto steps = run_well(reproduce("steps-office31", "office", kBoth));
  EXPECT_NE(steps.err.find("12 of 12 runs are done"), std::string::npos) << steps.err;
  EXPECT_TRUE(fs::exists(path("office/steps-office31.csv")));
}

// All rows of all tables, with as few tasks as show every kind of run: each method on
// each benchmark, every sweep.
TEST_F(ReproduceTest, EveryTableOfThePaperIsMadeFromTheRunsItNeeds) {
  for (const auto& experiment : protocol::all_experiments()) {
    SCOPED_TRACE(experiment.name);
    if (experiment.preset == "pacs-ci" || experiment.preset == "digits-ci") continue;  // no images
    std::string tasks = experiment.name.find("office31") != std::string::npos      ? "A->W"
                        : experiment.name == "bars-office-home"                    ? "Ar->Rw"
                        : experiment.name.find("office-home") != std::string::npos ? "Pr->Rw"
                                                                                   : "C->I";
    if (experiment.name == "final-imagenet-caltech") tasks = "C->I,I->C";
    Words options = {"--seeds", "0", "--tasks", tasks, "--set", "budget-iterations=2"};
    const auto is_cida = [](const auto& run) { return run.method == "cida"; };
    if (std::any_of(experiment.runs.begin(), experiment.runs.end(), is_cida)) {
      options.insert(options.end(), {"--set", "source-epochs=1", "--set", "warm-up-epochs=1"});
    }
    run_well(reproduce(experiment.name, "paper", options));
    std::istringstream csv(read_text_file(path("paper/" + experiment.name + ".csv")));
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line, "block,row,column,mean,std,seeds,paper,difference,note");
    int64_t cells = 0;
    while (std::getline(csv, line)) {
      ++cells;
      const auto fields = csv_fields(line).value();
      EXPECT_FALSE(fields.at(3).empty()) << "a gap: " << line;
    }
    EXPECT_GE(cells, static_cast<int64_t>(experiment.runs.size()));
    for (const auto* extension : {".md", ".tex", ".txt"}) {
      EXPECT_GT(fs::file_size(path("paper/" + experiment.name + extension)), 100u);
    }
  }
}

TEST_F(ReproduceTest, KilledInTheMiddleItGoesOnToTheSameResults) {
  const Words some = {"--seeds", "0", "--tasks", "A->W", "--runs", "Source only,ProCA"};
  run_well(reproduce("final-office31", "calm", some));
  // Where the second of the two runs gets its log; the source model is trained by then.
  test::run_and_kill(
      reproduce("final-office31", "killed", some),
      {.below = path("killed/runs"), .call = "open", .file = "/log.txt", .number = 2});
  EXPECT_FALSE(fs::exists(path("killed/final-office31.txt")));

  const auto resumed = run_well(reproduce("final-office31", "killed", some));
  EXPECT_EQ(resumed.out, read_text_file(path("calm/final-office31.txt")));
  EXPECT_EQ(resumed.err.find("source amazon"), std::string::npos) << "trained twice";
  const auto calm = files_below("calm/runs", "results.json");
  const auto other = files_below("killed/runs", "results.json");
  ASSERT_EQ(calm.size(), 2u);
  ASSERT_EQ(other.size(), 2u);
  for (size_t i = 0; i < calm.size(); ++i) {
    EXPECT_EQ(read_text_file(calm[i]), read_text_file(other[i])) << calm[i];
  }
}

// The folder is not there when the first command names it, and is when the second does.
TEST_F(ReproduceTest, InARelativeFolderItGoesOnToo) {
  auto words = reproduce("final-office31", "",
                         {"--seeds", "0", "--tasks", "A->W", "--runs", "Source only,ProCA"});
  *std::next(std::find(words.begin(), words.end(), "--out")) = "relative";
  *std::next(std::find(words.begin(), words.end(), "--data-root")) = "data";
  const auto here = "cd " + test::shell_quoted(path("")) + " && ";
  const auto killed = run_proca(
      words, here + test::fault_at(
                        {.below = path("relative/runs"), .call = "rename", .file = "/results.json"},
                        "kill"));
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_EQ(files_below("relative/runs", "results.json").size(), 0u);
  const auto resumed = run_well(words, here);
  EXPECT_EQ(resumed.err.find("source amazon"), std::string::npos) << "trained twice";
  EXPECT_EQ(files_below("relative/runs", "results.json").size(), 2u);
}

TEST_F(ReproduceTest, ASourceModelWhoseRunWasKilledBehindItsTrainingGetsItsResults) {
  const auto words =
      reproduce("final-office31", "behind", {"--seeds", "0", "--tasks", "A->W", "--runs", "ProCA"});
  const auto killed = run_proca(
      words,
      test::fault_at({.below = path("behind/sources"), .call = "rename", .file = "/results.json"},
                     "kill"));
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_EQ(files_below("behind/sources", "results.json").size(), 0u);
  run_well(words);
  EXPECT_EQ(files_below("behind/sources", "results.json").size(), 1u);
  // Runs of another target begin from it, and leave its results as they are.
  const auto other = run_well(reproduce("final-office31", "behind",
                                        {"--seeds", "0", "--tasks", "A->D", "--runs", "ProCA"}));
  EXPECT_EQ(other.err.find("source amazon"), std::string::npos) << other.err;
}

TEST_F(ReproduceTest, DetectedClassesStandBesideThePapers) {
  const auto result = run_well(reproduce("detection-office31", "detection", {"--tasks", "A->D"}));
  for (const auto* word : {"HBW step 1", "SCD step 3"}) {
    EXPECT_NE(result.out.find(word), std::string::npos) << word << result.out;
  }
  std::istringstream csv(read_text_file(path("detection/detection-office31.csv")));
  int64_t classes = 0;
  for (std::string line; std::getline(csv, line);) {
    const auto fields = csv_fields(line).value();
    if (fields.at(2) == "classes" && !fields.at(3).empty()) ++classes;  // ours
  }
  EXPECT_EQ(classes, 6) << "two rules and three steps";
}

TEST_F(ReproduceTest, OfficeHomeHasSixSteps) {
  Words more = kBoth;
  more.insert(more.end(), {"--tasks", "Ar->Cl"});
  run_well(reproduce("drop-office-home", "home", more));
  const auto csv = read_text_file(path("home/drop-office-home.csv"));
  EXPECT_NE(csv.find("drop,ProCA,6,"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("drop,ProCA,7,"), std::string::npos) << csv;
}

TEST_F(ReproduceTest, ASweepOverImageNetAndCaltech) {
  run_well(reproduce("sweeps-imagenet-caltech", "caltech", {"--runs", "alpha = 0.1,alpha = 0.3"}));
  const auto csv = read_text_file(path("caltech/sweeps-imagenet-caltech.csv"));
  EXPECT_NE(csv.find("alpha,final,alpha = 0.1,"), std::string::npos) << csv;
  EXPECT_EQ(files_below("caltech/runs", "results.json").size(), 2u);
}

TEST_F(ReproduceTest, OnesOwnExperimentOnOnesOwnPreset) {
  test::write_text(*shared_ / "own/tools.toml", "classes-per-step = 2\nsteps = 2\n");
  test::write_text(*shared_ / "own/mine.toml",
                   "title = \"Mine\"\npreset = \"tools.toml\"\nview = \"tasks\"\n"
                   "[tasks]\n\"there\" = [\"amazon\", \"dslr\"]\n"
                   "[run.\"Nothing, at all\"]\nmethod = \"source-only\"\n"
                   "[sweep]\nmethod = \"proca\"\nprototypes = [1, 2]\n");
  const auto mine = path("own/mine.toml");
  const auto one = run_well(reproduce(mine, "own/out", {"--runs", "Nothing, at all"}));
  EXPECT_NE(one.err.find("0 of 1 runs are done"), std::string::npos) << one.err;
  const auto all = run_well(reproduce(mine, "own/out"));
  EXPECT_NE(all.err.find("1 of 3 runs are done"), std::string::npos) << all.err;
  const auto csv = read_text_file(path("own/out/mine.csv"));
  for (const auto* word : {"Nothing, at all", "prototypes = 1", "prototypes = 2", "there"}) {
    EXPECT_NE(csv.find(word), std::string::npos) << word << csv;
  }
}

// The webcam lacks the classes of the first step: its run fails, and only that.
TEST_F(ReproduceTest, ARunThatFailsIsNamedAndTheTableHasAGap) {
  fs::create_directories(path("broken"));
  for (const auto* domain : {"amazon", "dslr", "webcam"}) {
    fs::copy(path("data") + "/" + domain, path("broken") + "/" + domain,
             fs::copy_options::recursive);
  }
  for (int i = 10; i < 20; ++i) {
    fs::remove_all(path("broken/webcam/class-" + std::to_string(i)));
  }
  const auto result = run_proca(
      reproduce("final-office31", "gap",
                {"--seeds", "0", "--runs", "Source only", "--tasks", "A->D,A->W"}, "broken"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("A->W, Source only, seed 0: failed with exit code 2: error: "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("has no image of the classes of step 1"), std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("A->D"), std::string::npos) << result.out;
  EXPECT_TRUE(fs::exists(path("gap/final-office31.csv")));
}

// With nothing to report, what has failed is still what one is told.
TEST_F(ReproduceTest, ASourceModelThatFailsIsNamedThoughThereIsNoReport) {
  fs::create_directories(path("bad-source/amazon/class-00"));
  test::write_text(*shared_ / "bad-source/amazon/class-00/0.png", "no picture");
  fs::create_directory_symlink(path("data/dslr"), path("bad-source/dslr"));
  const auto result = run_proca(
      reproduce("final-office31", "none",
                {"--seeds", "0", "--runs", "Source only", "--tasks", "A->D"}, "bad-source"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("warning: there is no report: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("error: source amazon, seed 0: failed with exit code 2: "),
            std::string::npos)
      << result.err;
}

TEST_F(ReproduceTest, BadUsageIsToldBeforeAnythingStarts) {
  fs::create_directories(path("half"));
  fs::create_directory_symlink(path("data/amazon"), path("half/amazon"));
  struct Case {
    Words words;
    std::string message;
  };
  const std::vector<Case> cases = {
      {reproduce("final-office31", "bad", kBoth, "half"),
       "the images of target \"dslr\" of preset office31-ci are not there: looked for " +
           path("half/dslr/images") + ", " + path("half/dslr") + ", "},
      {reproduce("final-office31", "bad", kBoth, "nowhere"), "nowhere does not exist"},
      {reproduce("final-ofice31", "bad"), "did you mean \"final-office31\"?"},
      {reproduce("final-office31", "bad", {"--set", "epoch=3"}),
       "--set: unknown option \"epoch\"; did you mean \"epochs\"?"},
      {reproduce("final-office31", "bad", {"--set", "source=dslr"}),
       "--set: source is set by the experiment"},
      {reproduce("final-office31", "bad", {"--set", "epochs"}), "is not of the form NAME=VALUE"},
      {reproduce("final-office31", "bad", {"--set", "tensorboard=tb"}),
       "--set tensorboard: the runs of a reproduction would all write to the same places"},
      {reproduce("final-office31", "bad", {"--set", "epochs=2"}), "sets it once more"},
      {reproduce("final-office31", "bad", {"--tasks", "A->X"}),
       "--tasks: there is no \"A->X\"; did you mean"},
      {reproduce("final-office31", "bad", {"--runs", "Proca"}), "did you mean \"ProCA\"?"},
      {reproduce("final-office31", "bad", {"--seeds", "1,1"}), "--seeds: 1 is given twice"},
      {reproduce("final-office31", "bad", {"--budget", "0"}), "--budget: \"0\" is out of range"},
      {reproduce("final-office31", "bad", {"--source-state", path("none/{seed}")}),
       "none/0 is no state of a source model"},
      {{"reproduce"}, "the name of an experiment is missing"},
      {{"reproduce", "final-office31"}, "--data-root is missing"},
      {{"reproduce", "final-office31", "--data-root", path("data")}, "--out is missing"},
      {{"reproduce", "one", "two"}, "unexpected argument \"two\""},
      {{"experiment"}, "proca experiment: the file is missing"},
      {{"experiment", "final-office31"}, "is no file ending in .toml"},
  };
  for (const auto& [words, message] : cases) {
    const auto result = run_proca(words);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_FALSE(fs::exists(path("bad")));
}

}  // namespace
}  // namespace proca
