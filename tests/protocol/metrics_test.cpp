#include "proca/protocol/metrics.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace proca::protocol {
namespace {

using Labels = std::vector<int64_t>;

TEST(MeasureAccuracyTest, MatchesHandComputedMicroAndMacroAccuracy) {
  // Class 0: 3 of 4 right, class 1: 0 of 1, class 2: 1 of 1.
  const Labels labels = {0, 0, 0, 0, 1, 2};
  const Labels predictions = {0, 0, 1, 0, 2, 2};
  const auto report = measure_accuracy(predictions, labels, 3);
  EXPECT_EQ(report.num_images, 6);
  EXPECT_EQ(report.num_correct, 4);
  EXPECT_DOUBLE_EQ(report.accuracy(), 4.0 / 6.0);
  EXPECT_DOUBLE_EQ(report.mean_class_accuracy(), (0.75 + 0.0 + 1.0) / 3.0);
  ASSERT_EQ(report.classes.size(), 3u);
  EXPECT_EQ(report.classes[0].num_images, 4);
  EXPECT_EQ(report.classes[0].num_correct, 3);
  EXPECT_DOUBLE_EQ(report.classes[0].accuracy(), 0.75);
  EXPECT_DOUBLE_EQ(report.classes[1].accuracy(), 0.0);
  const std::vector<ConfusionCount> pairs = {{0, 0, 3}, {0, 1, 1}, {1, 2, 1}, {2, 2, 1}};
  EXPECT_EQ(report.confusion, pairs);
}

TEST(MeasureAccuracyTest, ClassesThatDoNotOccurDoNotCount) {
  // Class 1 is predicted but never true, classes 0 and 3 are neither.
  const auto report = measure_accuracy(Labels{1, 4, 2}, Labels{2, 4, 2}, 5);
  ASSERT_EQ(report.classes.size(), 2u);
  EXPECT_EQ(report.classes[0].label, 2);
  EXPECT_EQ(report.classes[1].label, 4);
  EXPECT_DOUBLE_EQ(report.mean_class_accuracy(), (0.5 + 1.0) / 2.0);
  EXPECT_DOUBLE_EQ(report.accuracy(), 2.0 / 3.0);
}

TEST(MeasureAccuracyTest, OneImageIsEnough) {
  EXPECT_EQ(measure_accuracy(Labels{0}, Labels{0}, 1).accuracy(), 1.0);
  EXPECT_EQ(measure_accuracy(Labels{1}, Labels{0}, 2).mean_class_accuracy(), 0.0);
}

TEST(MeasureAccuracyTest, RefusesSpansThatDoNotMatchOrAreEmpty) {
  EXPECT_THROW(measure_accuracy(Labels{0, 1}, Labels{0}, 2), std::invalid_argument);
  EXPECT_THROW(measure_accuracy(Labels{}, Labels{0}, 2), std::invalid_argument);
  EXPECT_THROW(measure_accuracy(Labels{}, Labels{}, 2), std::invalid_argument);
}

TEST(MeasureAccuracyTest, RefusesLabelsOutsideOfTheClasses) {
  EXPECT_THROW(measure_accuracy(Labels{0}, Labels{2}, 2), std::out_of_range);
  EXPECT_THROW(measure_accuracy(Labels{0}, Labels{-1}, 2), std::out_of_range);
}

}  // namespace
}  // namespace proca::protocol
