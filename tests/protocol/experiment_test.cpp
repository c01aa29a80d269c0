#include "protocol/experiment.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "protocol/preset.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::protocol {
namespace {

using test::message_of;
using Words = std::vector<std::string>;

// Four lines, a task and a run: the least that is an experiment.
const std::string kTop = "title = \"T\"\npreset = \"demo\"\nview = \"tasks\"\n";
const std::string kTask = "[tasks]\n\"S->P\" = [\"sketch\", \"photo\"]\n";
const std::string kRun = "[run.ProCA]\nmethod = \"proca\"\n";

Experiment experiment_of(const std::string& toml) {
  return parse_experiment(toml, "mine", "mine.toml");
}

Words labels_of(const Experiment& experiment) {
  Words labels;
  for (const auto& run : experiment.runs) labels.push_back(run.label);
  return labels;
}

TEST(ParseExperimentTest, ReadsEveryTable) {
  const auto experiment = experiment_of(
      "title = \"Mine\"\npaper = \"Table 9\"\npreset = \"office31-ci\"\nview = \"task-steps\"\n"
      "metrics = [\"s1-accuracy\", \"step-accuracy\"]\nseeds = [3, 0]\n"
      "[tasks]\n\"W->A\" = [\"webcam\", \"amazon\"]\n\"A->W\" = [\"amazon\", \"webcam\"]\n"
      "[run.\"ProCA, v. 2.0\"]\nmethod = \"proca\"\nalpha = 0.2\nepochs = 3\n"
      "[run.PADA]\nmethod = \"no-such-method-yet\"\n"
      "[options]\nepochs = 10\nlayers = [1, 2]\n");
  EXPECT_EQ(experiment.name, "mine");
  EXPECT_EQ(experiment.title, "Mine");
  EXPECT_EQ(experiment.paper, "Table 9");
  EXPECT_EQ(experiment.preset, "office31-ci");
  EXPECT_EQ(experiment.view, TableView::kTaskSteps);
  EXPECT_EQ(experiment.metrics,
            (std::vector{TableMetric::kS1Accuracy, TableMetric::kStepAccuracy}));
  EXPECT_EQ(experiment.seeds, (std::vector<int64_t>{3, 0}));
  ASSERT_EQ(experiment.tasks.size(), 2u);  // in the order of the file
  EXPECT_EQ(experiment.tasks[0].label, "W->A");
  EXPECT_EQ(experiment.tasks[0].source, "webcam");
  EXPECT_EQ(experiment.tasks[0].target, "amazon");
  ASSERT_EQ(labels_of(experiment), (Words{"ProCA, v. 2.0", "PADA"}));
  // A run's own options win over [options], wherever that stands.
  EXPECT_EQ(experiment.runs[0].options.at("epochs"), Words{"3"});
  EXPECT_EQ(experiment.runs[0].options.at("alpha"), Words{"0.2"});
  EXPECT_EQ(experiment.runs[1].method, "no-such-method-yet");
  EXPECT_EQ(experiment.runs[1].options.at("epochs"), Words{"10"});
  EXPECT_EQ(experiment.runs[1].options.at("layers"), (Words{"1", "2"}));
}

TEST(ParseExperimentTest, LeastIsTitlePresetViewATaskAndARun) {
  const auto experiment = experiment_of(kTop + kTask + kRun);
  EXPECT_TRUE(experiment.paper.empty());
  EXPECT_EQ(experiment.seeds, std::vector<int64_t>{0});
  EXPECT_EQ(experiment.metrics, std::vector{TableMetric::kFinal});
  EXPECT_TRUE(experiment.runs.at(0).options.empty());
}

TEST(ParseExperimentTest, ASweepIsARunPerValue) {
  const auto experiment =
      experiment_of(kTop + kTask + kRun +
                    "[sweep]\nlambda = [0, 0.05]\nmethod = \"proca\"\ndetection = [\"scd\"]\n"
                    "[options]\nlambda = 7\neta = 1\n");
  ASSERT_EQ(labels_of(experiment),
            (Words{"ProCA", "lambda = 0", "lambda = 0.05", "detection = scd"}));
  EXPECT_EQ(experiment.runs[2].method, "proca");
  EXPECT_EQ(experiment.runs[2].options.at("lambda"), Words{"0.05"});
  EXPECT_EQ(experiment.runs[2].options.at("eta"), Words{"1"});
  EXPECT_EQ(experiment.runs[3].options.at("lambda"), Words{"7"});
}

TEST(ParseExperimentTest, EveryViewHasAMetricUnlessItShowsNone) {
  struct Case {
    std::string view;
    std::vector<TableMetric> metrics;
  };
  using enum TableMetric;
  const std::vector<Case> cases = {
      {"tasks", {kFinal}},
      {"steps", {kStepAccuracy}},
      {"task-steps", {kStepAccuracy}},
      {"sweep", {kFinal}},
      {"detected-classes", {}},
      {"bars", {}},
      {"drop", {TableMetric::kDrop}},
  };
  for (const auto& [view, metrics] : cases) {
    const auto experiment =
        experiment_of("title = \"T\"\npreset = \"demo\"\nview = \"" + view + "\"\n" + kTask + kRun);
    EXPECT_EQ(experiment.metrics, metrics) << view;
    EXPECT_EQ(name_of(experiment.view), view);
  }
  EXPECT_EQ(name_of(TableMetric::kPseudoLabels), "pseudo-labels");
  EXPECT_EQ(name_of(TableMetric::kFinalS1), "final-s1");
}

TEST(ParseExperimentTest, RefusesBadFilesWithTheLine) {
  struct Case {
    std::string toml;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"preset = \"demo\"\nview = \"tasks\"\n" + kTask + kRun,
       "mine.toml: title is missing at the top of the file"},
      {"title = \"T\"\nview = \"tasks\"\n" + kTask + kRun,
       "mine.toml: preset is missing at the top of the file"},
      {"title = \"T\"\npreset = \"demo\"\n" + kTask + kRun,
       "mine.toml: view is missing at the top of the file"},
      {kTop + kRun, "mine.toml: [tasks] names no task"},
      {kTop + kTask, "mine.toml: there is neither a table [run.LABEL] nor a [sweep]"},
      {"titel = \"T\"\n", "mine.toml:1: unknown key \"titel\"; did you mean \"title\"?"},
      {"colour = 1\n",
       "mine.toml:1: unknown key \"colour\"; expected one of title, paper, preset, view, metrics"},
      {"title = [\"a\", \"b\"]\n", "mine.toml:1: title takes one value, 2 given"},
      {"preset = \"\"\n", "mine.toml:1: preset has an empty value"},
      {"view = \"task\"\n", "mine.toml:1: unknown view \"task\"; did you mean \"tasks\"?"},
      {"metrics = [\"final\", \"loss\"]\n",
       "mine.toml:1: unknown metric \"loss\"; expected one of final, final-s1, step-accuracy"},
      {"metrics = [\"final\", \"final\"]\n", "mine.toml:1: metrics names \"final\" twice"},
      {"metrics = []\n", "mine.toml:1: metrics needs at least one value"},
      {kTop + "metrics = \"drop\"\n" + kTask + kRun,
       "mine.toml: view tasks does not show the metric drop; it shows final, final-s1, "
       "pseudo-labels"},
      {"title = \"T\"\npreset = \"demo\"\nview = \"bars\"\nmetrics = \"final\"\n" + kTask + kRun,
       "mine.toml: view bars does not show the metric final; it shows none"},
      {"seeds = [0, -1]\n", "mine.toml:1: seeds: \"-1\" is not a whole number from 0"},
      {"seeds = 1.5\n", "mine.toml:1: seeds: \"1.5\" is not a whole number from 0"},
      {"seeds = [1, 1]\n", "mine.toml:1: seeds names 1 twice"},
      {kTop + "[tasks]\n\"A->W\" = \"amazon\"\n",
       "mine.toml:5: task \"A->W\" is a list of source and target, 1 given"},
      {kTop + "[tasks]\n\"A->W\" = [\"amazon\", \"\"]\n", "mine.toml:5: A->W has an empty value"},
      {kTop + kTask + "[run.ProCA]\nalpha = 0.2\n", "mine.toml: [run.\"ProCA\"] names no method"},
      {kTop + kTask + "[run.ProCA]\nmethod = [\"proca\", \"pada\"]\n",
       "mine.toml:7: method takes one value, 2 given"},
      {kTop + kTask + kRun + "alpha = []\n", "mine.toml:8: alpha needs at least one value"},
      {kTop + kTask + kRun + "source = \"photo\"\n",
       "mine.toml:8: source is no option of a single run: the experiment decides on it"},
      {kTop + kTask + kRun + "[options]\nseeds = 3\n",
       "mine.toml:9: seeds is no option of a single run: the experiment decides on it"},
      {kTop + kTask + "[sweep]\nalpha = [0.1]\n", "mine.toml: [sweep] names no method"},
      {kTop + kTask + "[sweep]\nmethod = \"proca\"\n",
       "mine.toml: [sweep] lists no values of an option"},
      {kTop + kTask + "[sweep]\nmethod = \"proca\"\nalpha = [0.1, 0.1]\n",
       "mine.toml: two runs are called alpha = 0.1"},
      {kTop + kTask + "[runs.ProCA]\nmethod = \"proca\"\n",
       "mine.toml:7: unknown table [runs.ProCA]; expected one of tasks, options, run.LABEL, sweep"},
      {kTop + kTask + "[swep]\nmethod = \"proca\"\n",
       "mine.toml:7: unknown table [swep]; did you mean \"sweep\"?"},
      {kTop + kTask + "[run]\nmethod = \"proca\"\n", "mine.toml:7: unknown table [run]"},
      {kTop + "title = \"again\"\n", "mine.toml:4: is not valid TOML: "},
  };
  for (const auto& [toml, message] : cases) {
    EXPECT_EQ(message_of([&, &toml = toml] { experiment_of(toml); }).substr(0, message.size()),
              message)
        << toml;
  }
}

TEST(ExperimentTest, AreListedInTheOrderOfThePaperThenOurOwn) {
  Words names;
  for (const auto& experiment : all_experiments()) names.push_back(experiment.name);
  EXPECT_EQ(names, (Words{"final-office-home",
                          "final-office31",
                          "final-imagenet-caltech",
                          "steps-office31",
                          "steps-office-home",
                          "prototypes-office31",
                          "ablation-office31",
                          "detection-office31",
                          "sweeps-office31",
                          "sweeps-office-home",
                          "sweeps-imagenet-caltech",
                          "prototype-count-imagenet-caltech",
                          "step-size-imagenet-caltech",
                          "pseudo-labels-office31",
                          "per-task-office31",
                          "per-task-office-home",
                          "per-task-imagenet-caltech",
                          "bars-office-home",
                          "drop-office-home",
                          "drop-imagenet-caltech",
                          "detection-rules-office31",
                          "detection-rules-pacs",
                          "detection-rules-digits"}));
}

// They are tables of the paper or our own, on benchmarks that the program knows.
TEST(ExperimentTest, NameThePaperAndDomainsOfTheirPreset) {
  for (const auto& experiment : all_experiments()) {
    EXPECT_EQ(experiment.paper.empty(), experiment.name.starts_with("detection-rules-"))
        << experiment.name;
    const auto preset = find_preset(experiment.preset);
    std::set<std::string> labels;
    for (const auto& task : experiment.tasks) {
      EXPECT_TRUE(preset.sources.contains(task.source)) << experiment.name << " " << task.label;
      EXPECT_TRUE(preset.targets.contains(task.target)) << experiment.name << " " << task.label;
      EXPECT_NE(task.source, task.target) << experiment.name << " " << task.label;
      EXPECT_TRUE(labels.insert(task.source + task.target).second) << task.label;
    }
  }
}

TEST(ExperimentTest, HaveTheRowsAndColumnsOfThePaper) {
  const auto final = find_experiment("final-office-home");
  EXPECT_EQ(final.tasks.size(), 12u);
  EXPECT_EQ(labels_of(final),
            (Words{"Source only", "DANN", "PADA", "ETN", "BA3US", "CIDA", "ProCA"}));
  EXPECT_EQ(final.seeds.size(), 3u);
  const auto ablation = find_experiment("ablation-office31");
  EXPECT_EQ(ablation.tasks.size(), 6u);
  EXPECT_EQ(labels_of(ablation),
            (Words{"Source only", "L_ce", "L_ce + L_dis", "L_ce + L_con", "ProCA"}));
  const auto& ce = ablation.runs[1];
  EXPECT_EQ(ce.options.at("lambda"), Words{"0"});
  EXPECT_EQ(ce.options.at("eta"), Words{"0"});
  EXPECT_FALSE(ablation.runs[2].options.contains("eta"));
  const auto sweep = find_experiment("sweeps-imagenet-caltech");
  EXPECT_EQ(sweep.tasks.size(), 1u);
  EXPECT_EQ(sweep.runs.size(), 17u);  // six values of lambda, six of eta, five of alpha
  EXPECT_EQ(find_experiment("pseudo-labels-office31").runs[3].options.at("detection"),
            Words{"scd"});
}

TEST(FindExperimentTest, TakesAFileAndThePresetBesideIt) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "own.toml",
                   "title = \"T\"\npreset = \"tools.toml\"\nview = \"tasks\"\n" + kTask + kRun);
  const auto experiment = find_experiment((folder / "own.toml").string());
  EXPECT_EQ(experiment.name, "own");
  EXPECT_EQ(experiment.preset, (folder / "tools.toml").string());
  test::write_text(folder / "demo.toml", kTop + kTask + kRun);
  EXPECT_EQ(find_experiment((folder / "demo.toml").string()).preset, "demo");
}

TEST(FindExperimentTest, NamesTheNearestOrTheMissingFile) {
  EXPECT_EQ(message_of<InvalidOption>([] { find_experiment("final-ofice31"); }),
            "unknown experiment \"final-ofice31\"; did you mean \"final-office31\"?");
  EXPECT_EQ(message_of<InvalidOption>([] { find_experiment("nonsense"); }),
            "unknown experiment \"nonsense\"; see proca reproduce --list, or give a file ending in "
            ".toml");
  EXPECT_NE(message_of([] { find_experiment("gone.toml"); }).find("gone.toml"), std::string::npos);
}

}  // namespace
}  // namespace proca::protocol
