#include <algorithm>
#include <set>

#include "experiments/reproduction_fixture.h"
#include "proca/core/file.h"
#include "proca/methods/method.h"
#include "protocol/preset.h"
#include "state/state_writer.h"
#include "support/message_of.h"
#include "support/test_images.h"

namespace proca::experiments {
namespace {

using test::message_of;

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

TEST_F(ReproductionTest, WhatBelongsToTheMachineIsNoPartOfAnExperiment) {
  EXPECT_NE(message_of([&] { plan(kProca + "frozen-cache = \"x\"\n"); })
                .find("frozen-cache belongs to the machine, not to an experiment: use --set "
                      "frozen-cache=DIR"),
            std::string::npos);
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

}  // namespace
}  // namespace proca::experiments
