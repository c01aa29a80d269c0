#include "protocol/run_metrics.h"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "protocol/three_steps.h"

namespace proca::protocol {
namespace {

using Labels = std::vector<int64_t>;
using test::ThreeSteps;

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
}

TEST(RunMetricsTest, StepLevelAccuracyCountsTheImagesOfAllSeenClasses) {
  const auto run = ThreeSteps().summary();
  ASSERT_EQ(run.steps.size(), 3u);
  EXPECT_NEAR(run.steps[0].accuracy, 9.0 / 10, 1e-12);
  EXPECT_NEAR(run.steps[1].accuracy, (10.0 + 8) / 20, 1e-12);
  EXPECT_NEAR(run.steps[2].accuracy, (6.0 + 9 + 4) / 25, 1e-12);
  EXPECT_NEAR(run.final_accuracy, 0.76, 1e-12);
  EXPECT_NEAR(run.mean_accuracy, (0.9 + 0.9 + 0.76) / 3, 1e-12);
}

TEST(RunMetricsTest, S1AccuracyIsTheMeanOverTheFirstClasses) {
  const auto run = ThreeSteps().summary();
  // (4/4 + 5/6) / 2 = 11/12, (4/4 + 6/6) / 2 = 1, (2/4 + 4/6) / 2 = 7/12
  EXPECT_NEAR(run.steps[0].s1_accuracy, 11.0 / 12, 1e-12);
  EXPECT_NEAR(run.steps[1].s1_accuracy, 1.0, 1e-12);
  EXPECT_NEAR(run.steps[2].s1_accuracy, 7.0 / 12, 1e-12);
  EXPECT_NEAR(run.final_s1_accuracy, 7.0 / 12, 1e-12);
  EXPECT_NEAR(run.mean_s1_accuracy, 30.0 / 36, 1e-12);
}

TEST(RunMetricsTest, RoundedS1AccuracyRoundsEachClassToThreeDecimals) {
  const auto run = ThreeSteps().summary();
  // 5/6 -> 0.833 and 4/6 -> 0.667
  EXPECT_NEAR(run.steps[0].s1_accuracy_rounded, (1 + 0.833) / 2, 1e-12);
  EXPECT_NEAR(run.steps[2].s1_accuracy_rounded, (0.5 + 0.667) / 2, 1e-12);
  // 1/16 = 0.0625 is a tie: to the even digit, 0.062.
  const StepRecord tie{.classes = {{0, 16, 1}}};
  const auto tied = summarise({.steps = {{0}}, .first_classes = {0}}, tie.classes, {{tie}});
  EXPECT_NEAR(tied.steps[0].s1_accuracy_rounded, 0.062, 1e-12);
}

TEST(RunMetricsTest, AccuracyDropIsAbsoluteAndRelativeToTheFirstStep) {
  const auto run = ThreeSteps().summary();
  EXPECT_EQ(run.steps[0].accuracy_drop, 0);
  EXPECT_NEAR(run.steps[1].accuracy_drop, 11.0 / 12 - 1, 1e-12);
  EXPECT_NEAR(run.steps[2].accuracy_drop, 4.0 / 12, 1e-12);
  // (4/12) / (11/12)
  EXPECT_NEAR(run.steps[2].relative_accuracy_drop, 4.0 / 11, 1e-12);
}

TEST(RunMetricsTest, RelativeDropFromNothingIsZero) {
  const std::vector<StepRecord> steps = {{.classes = {{0, 2, 0}, {1, 2, 1}}},
                                         {.classes = {{0, 2, 1}, {1, 2, 1}}}};
  const auto run = summarise({.steps = {{0}, {1}}, .first_classes = {0}}, steps[0].classes, steps);
  EXPECT_NEAR(run.steps[1].accuracy_drop, -0.5, 1e-12);
  EXPECT_EQ(run.steps[1].relative_accuracy_drop, 0);
}

TEST(RunMetricsTest, GroupAccuracyCoversFutureClassesToo) {
  const auto run = ThreeSteps().summary();
  expect_near(run.source_group_accuracy, {0.5, 0.5, 0.2});
  expect_near(run.steps[0].group_accuracy, {0.9, 0.4, 0.2});
  expect_near(run.steps[1].group_accuracy, {1.0, 0.8, 0.0});
  expect_near(run.steps[2].group_accuracy, {0.6, 0.9, 0.8});
}

TEST(RunMetricsTest, ForgettingComparesWithTheBestAndTransferWithTheArrival) {
  const auto run = ThreeSteps().summary();
  // Group {0, 1}: best of steps 1 and 2 is 1.0, now 0.6; it arrived with 0.9.
  // Group {2}: best before the last step is 0.8, now 0.9; it arrived with 0.8.
  EXPECT_NEAR(run.forgetting, ((1.0 - 0.6) + (0.8 - 0.9)) / 2, 1e-12);
  EXPECT_NEAR(run.backward_transfer, ((0.6 - 0.9) + (0.9 - 0.8)) / 2, 1e-12);
}

TEST(RunMetricsTest, OneStepHasForgottenNothing) {
  ThreeSteps example;
  example.steps.resize(1);
  const auto run = example.summary();
  EXPECT_EQ(run.forgetting, 0);
  EXPECT_EQ(run.backward_transfer, 0);
  EXPECT_NEAR(run.final_accuracy, 0.9, 1e-12);
}

TEST(RunMetricsTest, PseudoLabelAccuracyPoolsTheImagesOfAllSteps) {
  const auto run = ThreeSteps().summary();
  // Not the mean of 9/10, 12/20 and 1/5.
  ASSERT_TRUE(run.pseudo_label_accuracy.has_value());
  EXPECT_NEAR(*run.pseudo_label_accuracy, 22.0 / 35, 1e-12);
}

TEST(RunMetricsTest, DetectionIsAveragedOverTheSteps) {
  const auto run = ThreeSteps().summary();
  // Recall 2/2, 0/1, 1/1; precision 2/3, 0 (nothing detected), 1/2.
  ASSERT_TRUE(run.mean_recall.has_value());
  EXPECT_NEAR(*run.mean_recall, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*run.mean_precision, (2.0 / 3 + 0 + 1.0 / 2) / 3, 1e-12);
}

TEST(RunMetricsTest, WhatNoStepHasIsAbsent) {
  ThreeSteps example;
  for (auto& step : example.steps) {
    step.detection.reset();
    step.pseudo_labels.reset();
  }
  const auto run = example.summary();
  EXPECT_FALSE(run.mean_recall.has_value());
  EXPECT_FALSE(run.mean_precision.has_value());
  EXPECT_FALSE(run.pseudo_label_accuracy.has_value());
}

TEST(RunMetricsTest, ClassesWithoutImagesAreLeftOutOfMeans) {
  // Class 1, of the first group, and class 2, a whole group, have no images.
  const ClassSchedule schedule{.steps = {{0, 1}, {2}, {3}}, .first_classes = {0, 1}};
  const std::vector<StepRecord> steps = {{.classes = {{0, 4, 3}, {1, 0, 0}, {2, 0, 0}, {3, 2, 0}}},
                                         {.classes = {{0, 4, 2}, {1, 0, 0}, {2, 0, 0}, {3, 2, 0}}},
                                         {.classes = {{0, 4, 1}, {1, 0, 0}, {2, 0, 0}, {3, 2, 2}}}};
  const auto run = summarise(schedule, steps[0].classes, steps);
  EXPECT_NEAR(run.steps[0].s1_accuracy, 0.75, 1e-12);
  EXPECT_NEAR(run.steps[1].accuracy, 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(run.steps[2].group_accuracy[1]));
  EXPECT_NEAR(run.forgetting, 0.5, 1e-12);  // of group {0, 1} alone
  EXPECT_NEAR(run.backward_transfer, -0.5, 1e-12);
  EXPECT_NEAR(run.final_accuracy, 0.5, 1e-12);
}

TEST(RunMetricsTest, RefusesRecordsThatDoNotFitTheSchedule) {
  ThreeSteps example;
  EXPECT_THROW(summarise(example.schedule, example.source, {}), std::invalid_argument);
  example.steps.push_back(example.steps.front());
  EXPECT_THROW(example.summary(), std::invalid_argument);
  example.steps.pop_back();
  example.steps.back().classes.pop_back();
  EXPECT_THROW(example.summary(), std::invalid_argument);
}

TEST(MeasureDetectionTest, CountsSetsOfClasses) {
  const auto quality = measure_detection(Labels{4, 1, 9, 1}, Labels{1, 2, 4, 7});
  EXPECT_EQ(quality.num_detected, 3);
  EXPECT_EQ(quality.num_present, 4);
  EXPECT_EQ(quality.num_right, 2);
  EXPECT_NEAR(quality.recall(), 2.0 / 4, 1e-12);
  EXPECT_NEAR(quality.precision(), 2.0 / 3, 1e-12);
}

TEST(MeasureDetectionTest, DetectingNothingIsWorthNothing) {
  const auto quality = measure_detection(Labels{}, Labels{1, 2});
  EXPECT_EQ(quality.recall(), 0);
  EXPECT_EQ(quality.precision(), 0);
  EXPECT_EQ(measure_detection(Labels{1}, Labels{}).recall(), 0);
}

TEST(MeanStdTest, DividesBySampleSizeMinusOne) {
  // Mean 4; squares 4 + 0 + 4 = 8; sqrt(8 / 2) = 2.
  const auto result = mean_std(std::vector<double>{2, 4, 6});
  EXPECT_NEAR(result.mean, 4, 1e-12);
  EXPECT_NEAR(result.std, 2, 1e-12);
}

TEST(MeanStdTest, SingleValueDoesNotDeviate) {
  const auto result = mean_std(std::vector<double>{0.7});
  EXPECT_EQ(result.mean, 0.7);
  EXPECT_EQ(result.std, 0);
  EXPECT_THROW(mean_std({}), std::invalid_argument);
}

}  // namespace
}  // namespace proca::protocol
