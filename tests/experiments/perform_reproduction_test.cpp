#include <gtest/gtest.h>

#include "experiments/reproduction_fixture.h"
#include "proca/core/file.h"
#include "protocol/metrics_json.h"
#include "state/state_writer.h"
#include "support/message_of.h"
#include "support/test_images.h"

namespace proca::experiments {
namespace {

using test::message_of;

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
  // Without its source model the run is not even started.
  EXPECT_FALSE(fs::exists(planned.runs[1].job.log));
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
