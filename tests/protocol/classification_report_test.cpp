#include "protocol/classification_report.h"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

namespace proca::protocol {
namespace {

// Four images of two of three classes: predicted 0, 1, 1, 2 with labels 0, 0, 1, 1.
ClassificationReport four_images() {
  ClassificationReport report(3);
  const std::array<std::array<float, 3>, 4> outputs = {
      {{0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.2F, 0.7F, 0.1F}, {0.1F, 0.4F, 0.5F}}};
  const std::array<int64_t, 4> labels = {0, 0, 1, 1};
  for (size_t i = 0; i < labels.size(); ++i) report.add(labels[i], outputs[i]);
  return report;
}

TEST(ClassificationReportTest, CountsTheClassesBeforeTheRightOne) {
  const auto report = four_images();
  EXPECT_EQ(report.num_images(), 4);
  EXPECT_DOUBLE_EQ(report.top(1), 0.5);
  EXPECT_DOUBLE_EQ(report.top(2), 1.0);  // both wrong ones have the right class in second place
  EXPECT_DOUBLE_EQ(report.accuracy().accuracy(), 0.5);
}

TEST(ClassificationReportTest, ScoresEveryClass) {
  const auto scores = four_images().class_scores();
  ASSERT_EQ(scores.size(), 3u);
  // Class 0: one image taken for it, rightly, of two. F1 = 2 * 1 / (1 + 2).
  EXPECT_DOUBLE_EQ(scores[0].precision, 1.0);
  EXPECT_DOUBLE_EQ(scores[0].recall, 0.5);
  EXPECT_DOUBLE_EQ(scores[0].f1, 2.0 / 3.0);
  // Class 1: two taken for it, one rightly, of two.
  EXPECT_DOUBLE_EQ(scores[1].f1, 0.5);
  // Class 2 does not occur; what was taken for it counts against its precision only.
  EXPECT_DOUBLE_EQ(scores[2].precision, 0.0);
  EXPECT_DOUBLE_EQ(scores[2].f1, 0.0);
  EXPECT_DOUBLE_EQ(four_images().macro_f1(), (2.0 / 3.0 + 0.5) / 2);
}

TEST(ClassificationReportTest, CalibrationErrorIsTheDistanceOfConfidenceAndAccuracy) {
  // Every image has a bin of its own: |0.8 - 1|, |0.6 - 0|, |0.7 - 1|, |0.5 - 0|.
  EXPECT_NEAR(four_images().calibration_error(), (0.2 + 0.6 + 0.3 + 0.5) / 4, 1e-6);
  ClassificationReport sure(2);
  const std::array<float, 2> first = {1.0F, 0.0F};
  sure.add(0, first);
  EXPECT_DOUBLE_EQ(sure.calibration_error(), 0.0);
  sure.add(1, first);  // the same bin: 100 % sure, 50 % right
  EXPECT_DOUBLE_EQ(sure.calibration_error(), 0.5);
}

TEST(ClassificationReportTest, OfEqualClassesTheFirstIsPredicted) {
  ClassificationReport report(2);
  const std::array<float, 2> even = {0.5F, 0.5F};
  report.add(0, even);
  report.add(1, even);
  EXPECT_DOUBLE_EQ(report.top(1), 0.5);
}

TEST(ClassificationReportTest, RefusesWhatIsNoOutputOfTheModel) {
  ClassificationReport report(2);
  const std::array<float, 3> three = {0.5F, 0.3F, 0.2F};
  const std::array<float, 2> two = {0.5F, 0.5F};
  EXPECT_THROW(report.add(0, three), std::invalid_argument);
  EXPECT_THROW(report.add(2, two), std::invalid_argument);
}

TEST(ConfusionCsvTest, HasALinePerClassThatOccursAndAColumnPerClass) {
  EXPECT_EQ(confusion_csv(four_images().accuracy(), {"cup", "a, b", "key"}),
            "true class,cup,\"a, b\",key\n"
            "cup,1,1,0\n"
            "\"a, b\",0,1,1\n");
}

}  // namespace
}  // namespace proca::protocol
