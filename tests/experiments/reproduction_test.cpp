#include "experiments/reproduction.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "proca/methods/method.h"
#include "protocol/metrics_json.h"
#include "protocol/preset.h"
#include "state/state_writer.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::experiments {
namespace {

namespace fs = std::filesystem;
using protocol::Experiment;
using test::message_of;
using Words = std::vector<std::string>;

// The demo's domains as empty folders: planning looks no further.
class ReproductionTest : public ::testing::Test {
 protected:
  ReproductionTest() {
    for (const auto* domain : {"sketch", "photo"}) fs::create_directories(data() / domain);
  }

  fs::path data() const { return fs::canonical(folder_.path()) / "data"; }
  fs::path out() const { return fs::canonical(folder_.path()) / "out"; }

  Experiment parse(const std::string& tables, const std::string& seeds = "0") const {
    return protocol::parse_experiment(
        "title = \"T\"\npreset = \"demo\"\nview = \"tasks\"\nseeds = [" + seeds +
            "]\n[tasks]\n\"S->P\" = [\"sketch\", \"photo\"]\n" + tables,
        "mine", "mine.toml");
  }
  ReproductionOptions options(std::map<std::string, Words> passed_on = {}) const {
    return {.program = "/bin/proca", .data_root = data(), .out = out(), .options = passed_on};
  }
  ReproductionPlan plan(const std::string& tables,
                        std::map<std::string, Words> passed_on = {}) const {
    return plan_reproduction(parse(tables), options(std::move(passed_on)));
  }
  // Where the only run of a plan is kept, below the folder of its task.
  std::string slug(const std::string& tables, std::map<std::string, Words> passed_on = {}) const {
    const auto planned = plan(tables, std::move(passed_on));
    EXPECT_EQ(planned.runs.size(), 1u);
    return planned.runs[0].folder.parent_path().filename().string();
  }

  test::TemporaryFolder folder_;
};

const std::string kProca = "[run.ProCA]\nmethod = \"proca\"\n";
const std::string kBoth = "[run.\"Source only\"]\nmethod = \"source-only\"\n" + kProca;

bool has_words(const Words& all, const Words& some) {
  return std::search(all.begin(), all.end(), some.begin(), some.end()) != all.end();
}

TEST_F(ReproductionTest, PlansASourceModelAndARunPerRowTaskAndSeed) {
  auto experiment = parse(kBoth, "0, 4");
  experiment.tasks.push_back({"P->S", "photo", "sketch"});
  const auto planned = plan_reproduction(experiment, options());
  ASSERT_EQ(planned.sources.size(), 4u);  // two domains, two seeds
  ASSERT_EQ(planned.runs.size(), 8u);
  ASSERT_EQ(planned.cells.size(), 8u);

  const auto& source = planned.sources[1];
  EXPECT_EQ(source.folder, out() / "sources/demo/sketch/seed-4");
  EXPECT_EQ(source.job.label, "source sketch, seed 4");
  EXPECT_TRUE(has_words(source.job.command, {"--method", "source-only"}));
  EXPECT_TRUE(has_words(source.job.command, {"--source", "sketch", "--target", "photo"}));

  const auto& run = planned.runs[3];
  EXPECT_EQ(run.folder, out() / "runs/demo/sketch/photo/proca/seed-4");
  EXPECT_EQ(run.job.label, "S->P, ProCA, seed 4");
  EXPECT_EQ(run.job.log, run.folder / "log.txt");
  EXPECT_EQ(run.seed, 4);
  EXPECT_EQ(run.source, 1);
  EXPECT_EQ(
      run.job.command,
      (Words{"/bin/proca", "run", "--preset", "demo", "--data-root", data().string(), "--source",
             "sketch", "--target", "photo", "--method", "proca", "--seeds", "4", "--out",
             run.folder.string(), "--source-state", (source.folder / "source-4").string()}));
  const auto& cell = planned.cells[3];
  EXPECT_EQ(cell.run, "ProCA");
  EXPECT_EQ(cell.task, "S->P");
  EXPECT_EQ(cell.seed, 4);
  EXPECT_EQ(cell.planned, 3);
}

TEST_F(ReproductionTest, OptionsThatChangeNothingDoNotMakeAnotherRun) {
  EXPECT_EQ(slug(kProca), "proca");
  EXPECT_EQ(slug(kProca + "lambda = 0.1\n"), "proca");  // the method's own
  EXPECT_EQ(slug(kProca + "epochs = 10\n"), "proca");   // the preset's
  EXPECT_EQ(slug(kProca, {{"threads", {"3"}}}), "proca");
  EXPECT_NE(slug(kProca, {{"precision", {"bf16"}}}), "proca");
  const auto other = slug(kProca + "lambda = 0.2\n");
  EXPECT_EQ(other.substr(0, 6), "proca-");
  EXPECT_EQ(other.size(), 14u);
  EXPECT_EQ(slug(kProca, {{"lambda", {"0.2"}}}), other);
  EXPECT_EQ(slug(kProca + "lambda = 0.2\neta = 1\n"), other);
  EXPECT_NE(slug(kProca + "lambda = 0.3\n"), other);
  EXPECT_NE(slug(kProca + "lambda = 0.2\neta = 2\n"), other);
}

TEST_F(ReproductionTest, EqualRunsOfATableAreDoneOnce) {
  const auto planned = plan("[sweep]\nmethod = \"proca\"\nlambda = [0, 0.1]\neta = [0.5, 1]\n");
  EXPECT_EQ(planned.cells.size(), 4u);
  ASSERT_EQ(planned.runs.size(), 3u);
  EXPECT_EQ(planned.cells[3].run, "eta = 1");
  EXPECT_EQ(planned.cells[3].planned, planned.cells[1].planned);
  EXPECT_EQ(planned.sources.size(), 1u);
}

TEST_F(ReproductionTest, OptionsOfTheSourceModelMakeAnother) {
  const auto planned = plan(kProca + "[run.Large]\nmethod = \"proca\"\nbackbone = \"resnet18\"\n" +
                            "[run.Long]\nmethod = \"proca\"\npretrain-epochs = 3\nalpha = 0.3\n" +
                            "[run.Wide]\nmethod = \"proca\"\nbackbone = \"resnet18\"\neta = 3\n");
  ASSERT_EQ(planned.sources.size(), 3u);
  EXPECT_EQ(planned.sources[0].folder, out() / "sources/demo/sketch/seed-0");
  EXPECT_TRUE(has_words(planned.sources[1].job.command, {"--backbone=resnet18"}));
  EXPECT_TRUE(has_words(planned.sources[2].job.command, {"--pretrain-epochs=3"}));
  EXPECT_FALSE(has_words(planned.sources[2].job.command, {"--alpha=0.3"}));
  ASSERT_EQ(planned.runs.size(), 4u);
  EXPECT_EQ(planned.runs[1].source, planned.runs[3].source);
  EXPECT_NE(planned.runs[1].source, planned.runs[0].source);
}

TEST_F(ReproductionTest, OptionsPassedOnYieldToTheRunsAndGoWhereTheyBelong) {
  const auto planned = plan(kBoth + "eta = 0.5\n", {{"eta", {"2"}}, {"batch-size", {"8"}}});
  const auto& source_only = planned.runs.at(0).job.command;
  const auto& proca = planned.runs.at(1).job.command;
  EXPECT_TRUE(has_words(source_only, {"--batch-size=8"}));
  EXPECT_FALSE(has_words(source_only, {"--eta=2"}));  // It has no such option.
  EXPECT_TRUE(has_words(proca, {"--batch-size=8", "--eta=0.5"}));
  EXPECT_FALSE(has_words(proca, {"--eta=2"}));
}

TEST_F(ReproductionTest, UsesSourceModelsThatExist) {
  auto given = options();
  given.source_state = (folder_ / "models").string() + "/{source}-{seed}";
  test::write_text(folder_ / "models/sketch-0/state.json", "{}");
  const auto planned = plan_reproduction(parse(kProca), given);
  EXPECT_TRUE(planned.sources.empty());
  EXPECT_FALSE(planned.runs.at(0).source.has_value());
  const auto state = fs::canonical(folder_ / "models/sketch-0").string();
  EXPECT_TRUE(has_words(planned.runs.at(0).job.command, {"--source-state", state}));
  // Other models, other results.
  EXPECT_NE(planned.runs.at(0).folder, plan(kProca).runs.at(0).folder);
  EXPECT_NE(message_of([&] {
              plan_reproduction(parse(kProca, "0, 1"), given);
            }).find("models/sketch-1 is no state of a source model"),
            std::string::npos);
}

TEST_F(ReproductionTest, APresetOfOnesOwnIsToldApartByItsContent) {
  const auto file = folder_ / "own.toml";
  const auto folder_of_run = [&] {
    auto experiment = parse(kProca);
    experiment.preset = file.string();
    return plan_reproduction(experiment, options()).runs.at(0).folder;
  };
  write_file(file, "classes-per-step = 1\nsteps = 2\n");
  const auto first = folder_of_run();
  EXPECT_TRUE(first.string().find("/runs/own-") != std::string::npos) << first;
  EXPECT_EQ(folder_of_run(), first);
  write_file(file, "classes-per-step = 2\nsteps = 1\n");
  EXPECT_NE(folder_of_run(), first);
}

TEST_F(ReproductionTest, WhatIsWrongIsFoundBeforeAnythingStarts) {
  struct Case {
    std::string tables;
    std::map<std::string, Words> passed_on;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"[run.Mine]\nmethod = \"prcoa\"\n",
       {},
       "run \"Mine\": --method: unknown method \"prcoa\"; did you mean \"proca\"?"},
      {kProca + "alpa = 1\n",
       {},
       "run \"ProCA\": unknown option \"alpa\"; did you mean \"alpha\"?"},
      {kProca + "alpha = 7\n", {}, "run \"ProCA\": --alpha: \"7\" is out of range"},
      {kProca + "epochs = [1, 2]\n", {}, "run \"ProCA\": --epochs: takes one value, 2 given"},
      {"[run.None]\nmethod = \"source-only\"\nalpha = 0.1\n",
       {},
       "run \"None\": --alpha: source-only has no such option"},
      {kProca, {{"epoch", {"3"}}}, "--set: unknown option \"epoch\"; did you mean \"epochs\"?"},
      {kProca, {{"epochs", {"x"}}}, "run \"ProCA\": --epochs: \"x\" is not a whole number"},
      {"[run.None]\nmethod = \"source-only\"\n",
       {{"alpha", {"0.1"}}},
       "--set: no method of these runs has an option \"alpha\""},
  };
  for (const auto& [tables, passed_on, message] : cases) {
    const auto actual = message_of<InvalidOption>([&, &t = tables, &p = passed_on] { plan(t, p); });
    EXPECT_EQ(actual.substr(0, message.size()), message);
  }
  fs::remove(data() / "photo");
  const auto missing = message_of([&] { plan(kProca); });
  EXPECT_NE(missing.find("the images of target \"photo\" of preset demo are not there: looked "
                         "for " +
                         (data() / "photo").string() + ", " + (data() / "photo.txt").string()),
            std::string::npos)
      << missing;
}

TEST_F(ReproductionTest, TasksAndRunsAreChosenByLabel) {
  auto experiment = parse(kBoth);
  experiment.tasks.push_back({"P->S", "photo", "sketch"});
  const auto less = narrowed(experiment, {"P->S"}, {"ProCA"});
  ASSERT_EQ(less.tasks.size(), 1u);
  EXPECT_EQ(less.tasks[0].source, "photo");
  ASSERT_EQ(less.runs.size(), 1u);
  EXPECT_EQ(less.runs[0].method, "proca");
  const auto same = narrowed(experiment, {"P->S", "S->P"}, {});
  EXPECT_EQ(same.tasks[0].label, "S->P");  // The experiment's order stays.
  EXPECT_EQ(same.runs.size(), 2u);
  EXPECT_EQ(message_of<InvalidOption>([&] { narrowed(experiment, {"S->Q"}, {}); }),
            "--tasks: there is no \"S->Q\"; did you mean \"S->P\"?");
  EXPECT_EQ(message_of<InvalidOption>([&] { narrowed(experiment, {}, {"DANN"}); }),
            "--runs: there is no \"DANN\"; there are Source only, ProCA");
}

// Those whose methods this program has; the others are checked when they are run.
TEST(BuiltInExperimentsTest, HaveOptionsThatExist) {
  const test::TemporaryFolder folder;
  for (const auto& experiment : protocol::all_experiments()) {
    const auto preset = protocol::find_preset(experiment.preset);
    auto known = experiment;
    std::erase_if(known.runs, [](const auto& run) {
      const auto& methods = methods::all_methods();
      return std::none_of(methods.begin(), methods.end(),
                          [&](const auto& spec) { return spec.name == run.method; });
    });
    for (const auto& task : experiment.tasks) {
      fs::create_directories(folder / preset.sources.at(task.source).front());
      fs::create_directories(folder / preset.targets.at(task.target).front());
    }
    const auto planned =
        plan_reproduction(known, {.program = "proca", .data_root = folder.path(), .out = "out"});
    EXPECT_EQ(planned.cells.size(), known.tasks.size() * known.runs.size() * known.seeds.size());
  }
}

// A run that was never started, one that is done, and one of other images.
class PerformanceTest : public ReproductionTest {
 protected:
  static void write_run_toml(const PlannedRun& run, const fs::path& data_root,
                             const std::string& comment) {
    auto text = run.options;
    const std::string unset = "data-root = \"\"";
    text.replace(text.find(unset), unset.size(), "data-root = \"" + data_root.string() + "\"");
    test::write_text(run.folder / "run.toml", text + comment);
  }

  // A stand-in for `proca run`: writes what that leaves behind.
  void write_results(const PlannedRun& run, const fs::path& data_root) const {
    const protocol::StepRecord record{.classes = {{0, 4, 3}}};
    const auto metrics =
        protocol::summarise({.steps = {{0}}, .first_classes = {0}}, record.classes, {{record}});
    test::write_text(run.folder / "results.json", "{\"seeds\": [{\"seed\": 0, \"metrics\": " +
                                                      protocol::to_json(metrics) + "}]}");
    write_run_toml(run, data_root, "# step 1: classes 0\n");
  }
  ReproductionOutcome perform(const ReproductionPlan& planned) const {
    return perform_reproduction(planned, options(), std::vector<JobSlot>(1));
  }
};

TEST_F(PerformanceTest, WhatIsDoneIsNotStarted) {
  const auto planned = plan(kProca);
  write_results(planned.runs[0], data());
  const auto outcome = perform(planned);  // The program is not there: starting it would fail.
  EXPECT_FALSE(outcome.failure.has_value());
  EXPECT_EQ(outcome.num_started, 0);
  ASSERT_EQ(outcome.results.size(), 1u);
  EXPECT_EQ(outcome.results[0].run, "ProCA");
  EXPECT_EQ(outcome.results[0].task, "S->P");
  EXPECT_NEAR(outcome.results[0].metrics.final_accuracy, 0.75, 1e-12);
  EXPECT_TRUE(outcome.results[0].detection.empty());
}

TEST_F(PerformanceTest, AFailureIsReportedAndTheRestIsKept) {
  const auto planned = plan(kBoth);
  write_results(planned.runs[0], data());
  const auto outcome = perform(planned);
  ASSERT_TRUE(outcome.failure.has_value());
  EXPECT_EQ(outcome.failure->label, "source sketch, seed 0");
  EXPECT_EQ(outcome.failure->exit_code, 127);
  EXPECT_EQ(outcome.failure->reason, "error: /bin/proca cannot be started");
  EXPECT_EQ(outcome.num_started, 1);  // Without its source model the run is not even tried.
  ASSERT_EQ(outcome.results.size(), 1u);
  EXPECT_EQ(outcome.results[0].run, "Source only");
}

TEST_F(PerformanceTest, ResultsOfOtherImagesAreNotTakenForThese) {
  const auto planned = plan(kProca);
  write_results(planned.runs[0], "/elsewhere");
  EXPECT_NE(message_of([&] { perform(planned); }).find("holds results of the images in /elsewhere"),
            std::string::npos);
}

// Another version of the program may have had other defaults.
TEST_F(PerformanceTest, ResultsOfOtherOptionsAreNotTakenForThese) {
  auto planned = plan(kProca);
  write_results(planned.runs[0], data());
  auto& options = planned.runs[0].options;
  options.replace(options.find("lambda = 0.1"), 12, "lambda = 0.3");
  EXPECT_NE(message_of([&] {
              perform(planned);
            }).find("holds results of a run without lambda = 0.3; use another --out"),
            std::string::npos);
}

TEST_F(PerformanceTest, DamagedResultsAreNamed) {
  const auto planned = plan(kProca);
  for (const auto* text : {"", "{}", "{\"seeds\": []}", "{\"seeds\": [{\"seed\": 0}]}"}) {
    test::write_text(planned.runs[0].folder / "results.json", text);
    const auto message = message_of([&] { perform(planned); });
    EXPECT_NE(message.find("results.json: is damaged"), std::string::npos) << text << message;
  }
}

// The same cells with the files of a method that detects.
TEST_F(PerformanceTest, ReadsWhatWasDetectedAndWhatWasThere) {
  const auto planned = plan(kProca);
  const auto& run = planned.runs[0];
  write_results(run, data());
  const std::string classes =
      R"("classes": [{"label": 0, "cumulative_probability": 1.0},
                     {"label": 1, "cumulative_probability": 0.25}])";
  // Read through the state, whose checksums it must have.
  const auto put = [&](const std::string& text) {
    state::StateWriter writer(run.folder / "seed-0");
    writer.put_text("steps/01/detection.json", text);
    writer.commit({});
  };
  put(R"({"threshold": 0.15, "detected": [0, 1], )" + classes + "}");
  const auto detection = perform(planned).results.at(0).detection;
  ASSERT_EQ(detection.size(), 1u);
  EXPECT_EQ(detection[0].detected, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(detection[0].present, std::vector<int64_t>{0});
  EXPECT_EQ(detection[0].cumulative, (std::vector<double>{1.0, 0.25}));
  EXPECT_DOUBLE_EQ(detection[0].threshold, 0.15);

  for (const auto& text :
       {std::string("{"), R"({"threshold": 0.15, "detected": [0]})" + std::string(),
        R"({"threshold": "x", "detected": [0], )" + classes + "}",
        R"({"threshold": 0.15, "detected": [2], )" + classes + "}",
        R"({"threshold": 0.15, "detected": [-1], )" + classes + "}"}) {
    put(text);
    EXPECT_NE(message_of([&] { perform(planned); }).find("detection.json: is damaged"),
              std::string::npos)
        << text;
  }
}

TEST_F(PerformanceTest, StepsWhoseClassesAreUnknownAreRefused) {
  const auto planned = plan(kProca);
  const auto& run = planned.runs[0];
  write_results(run, data());
  for (const auto* comment : {"", "# step 2: classes 0\n", "# step 1: classes 0, x\n"}) {
    write_run_toml(run, data(), comment);
    EXPECT_NE(message_of([&] { perform(planned); }).find("run.toml: is damaged"), std::string::npos)
        << comment;
  }
}

}  // namespace
}  // namespace proca::experiments
