#include "report/tables/run_table.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "protocol/three_steps.h"
#include "support/message_of.h"

namespace proca::report {
namespace {

using protocol::RunMetrics;
using test::ThreeSteps;

// Columns of the widest line; "±" is one column of two bytes.
int64_t width(const std::string& table) {
  std::istringstream lines(table);
  int64_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest =
        std::max(widest, static_cast<int64_t>(std::count_if(
                             line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; })));
  }
  return widest;
}

RunMetrics without_detection() {
  ThreeSteps example;
  for (auto& step : example.steps) {
    step.detection.reset();
    step.pseudo_labels.reset();
  }
  return example.summary();
}

TEST(RunTableTest, ShowsOneRun) {
  // The figures are worked out in tests/protocol/run_metrics_test.cpp.
  EXPECT_EQ(run_table("ProCA, sketch to photo", {ThreeSteps().summary()}),
            "ProCA, sketch to photo (%)\n"
            "step  accuracy    S-1  drop  recall  precision  pseudo\n"
            "1         90.0   91.7   0.0   100.0       66.7    90.0\n"
            "2         90.0  100.0  -8.3     0.0        0.0    60.0\n"
            "3         76.0   58.3  33.3   100.0       50.0    20.0\n"
            "mean      85.3   83.3          66.7       38.9    62.9\n"
            "\n"
            "Final accuracy      76.00\n"
            "Final S-1 accuracy  58.33\n"
            "Forgetting           15.0\n"
            "Backward transfer   -10.0\n");
}

TEST(RunTableTest, ShowsMeanAndDeviationOfSeveralRuns) {
  ThreeSteps first, second;
  for (auto* example : {&first, &second}) {
    example->steps.resize(1);
    example->steps[0].detection.reset();
  }
  // Class 0: 4 and 2 of 4 right, class 1: 5 of 6.
  // Accuracy 0.9 and 0.7: mean 0.8, deviation sqrt(0.1² + 0.1²) = 0.1414.
  // S-1 11/12 and 8/12: mean 0.7917, deviation 3/12 / sqrt(2) = 0.1768.
  // Pseudo-labels 9/10 and 8/10: mean 0.85, deviation 0.0707.
  second.steps[0].classes[0].num_correct = 2;
  second.steps[0].pseudo_labels->num_correct = 8;
  EXPECT_EQ(run_table("Two", {first.summary(), second.summary()}),
            "Two (%, mean ± std of 2 runs)\n"
            "step     accuracy          S-1       drop  recall  precision      pseudo\n"
            "1     80.0 ± 14.1  79.2 ± 17.7  0.0 ± 0.0       -          -  85.0 ± 7.1\n"
            "mean  80.0 ± 14.1  79.2 ± 17.7                  -          -  85.0 ± 7.1\n"
            "\n"
            "Final accuracy      80.00 ± 14.14\n"
            "Final S-1 accuracy  79.17 ± 17.68\n"
            "Forgetting              0.0 ± 0.0\n"
            "Backward transfer       0.0 ± 0.0\n");
}

TEST(RunTableTest, WhatNoRunHasIsADash) {
  EXPECT_EQ(run_table("Source only", {without_detection()}),
            "Source only (%)\n"
            "step  accuracy    S-1  drop  recall  precision  pseudo\n"
            "1         90.0   91.7   0.0       -          -       -\n"
            "2         90.0  100.0  -8.3       -          -       -\n"
            "3         76.0   58.3  33.3       -          -       -\n"
            "mean      85.3   83.3             -          -       -\n"
            "\n"
            "Final accuracy      76.00\n"
            "Final S-1 accuracy  58.33\n"
            "Forgetting           15.0\n"
            "Backward transfer   -10.0\n");
}

TEST(RunTableTest, WidestFiguresFitEightyColumns) {
  const auto run = [](double value, int64_t right) {
    protocol::StepMetrics step;
    step.accuracy = step.s1_accuracy = value;
    step.accuracy_drop = -value;
    step.detection = protocol::DetectionQuality{10, 10, right};
    step.pseudo_labels = protocol::Tally{10, right};
    RunMetrics metrics;
    metrics.source_group_accuracy.assign(15, value);
    step.group_accuracy.assign(15, value);
    metrics.steps.assign(15, step);
    metrics.mean_accuracy = metrics.mean_s1_accuracy = value;
    return metrics;
  };
  // 50.0 ± 70.7, and -50.0 ± 70.7 for the drop
  const auto table = run_table("Wide", {run(0, 0), run(1, 10)});
  EXPECT_LE(width(table), 80) << table;
  EXPECT_NE(table.find("-50.0 ± 70.7"), std::string::npos) << table;
  EXPECT_LE(width(group_matrix({run(1, 10)})), 80);
}

TEST(RunTableTest, RefusesRunsOfDifferentLengths) {
  ThreeSteps shorter;
  shorter.steps.pop_back();
  const std::vector<RunMetrics> runs = {ThreeSteps().summary(), shorter.summary()};
  EXPECT_EQ(test::message_of([&] { run_table("Mixed", runs); }),
            "the runs have done different numbers of steps: 3 and 2");
  EXPECT_THROW(run_table("None", {}), std::invalid_argument);
  EXPECT_THROW(group_matrix({}), std::invalid_argument);
}

TEST(GroupMatrixTest, HasARowPerStepAndTheSourceFirst) {
  EXPECT_EQ(group_matrix({ThreeSteps().summary()}),
            "Accuracy (%) after each step (rows) on the classes of each step (columns)\n"
            "            1     2     3\n"
            "source   50.0  50.0  20.0\n"
            "1        90.0  40.0  20.0\n"
            "2       100.0  80.0   0.0\n"
            "3        60.0  90.0  80.0\n");
}

TEST(GroupMatrixTest, AveragesRunsAndShowsEmptyGroupsAsADash) {
  auto first = ThreeSteps().summary();
  auto second = first;
  first.steps.resize(1);
  second.steps.resize(1);
  second.steps[0].group_accuracy = {0.5, 0.6, 0.2};
  for (auto* run : {&first, &second}) {
    run->source_group_accuracy[2] = std::numeric_limits<double>::quiet_NaN();
    run->steps[0].group_accuracy[2] = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_EQ(group_matrix({first, second}),
            "Accuracy (%) after each step (rows) on the classes of each step (columns)\n"
            "           1     2  3\n"
            "source  50.0  50.0  -\n"
            "1       70.0  50.0  -\n");
}

TEST(GroupMatrixTest, ManyStepsAreShownInBlocks) {
  RunMetrics run;
  run.source_group_accuracy.assign(12, 0.5);
  protocol::StepMetrics step;
  step.group_accuracy.assign(12, 1.0);
  run.steps = {step};
  EXPECT_EQ(group_matrix({run}),
            "Accuracy (%) after each step (rows) on the classes of each step (columns)\n"
            "            1      2      3      4      5      6      7      8      9     10\n"
            "source   50.0   50.0   50.0   50.0   50.0   50.0   50.0   50.0   50.0   50.0\n"
            "1       100.0  100.0  100.0  100.0  100.0  100.0  100.0  100.0  100.0  100.0\n"
            "\n"
            "           11     12\n"
            "source   50.0   50.0\n"
            "1       100.0  100.0\n");
}

}  // namespace
}  // namespace proca::report
