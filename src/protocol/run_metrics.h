#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proca/protocol/metrics.h"
#include "protocol/class_schedule.h"

namespace proca::protocol {

/// Counts of images and of right ones.
struct Tally {
  int64_t num_images = 0;
  int64_t num_correct = 0;
  double accuracy() const {
    return static_cast<double>(num_correct) / static_cast<double>(num_images);
  }
};

/// How well the classes of a step were detected.
struct DetectionQuality {
  int64_t num_detected = 0;
  int64_t num_present = 0;
  int64_t num_right = 0;  ///< detected and present
  /// Share of the present classes that were detected: the paper's SCD accuracy.
  double recall() const;
  /// Share of the detected classes that are present: the paper's TCD accuracy. 0 if
  /// none was detected.
  double precision() const;
};
/// Compares two sets of labels; a label that is named twice counts once.
DetectionQuality measure_detection(std::span<const int64_t> detected,
                                   std::span<const int64_t> present);

/// The measurements after a step.
struct StepRecord {
  std::vector<ClassAccuracy> classes;  ///< every class of the schedule, by label
  /// Pairs that occur; empty in records of versions that did not count them.
  std::vector<ConfusionCount> confusion = {};
  std::optional<DetectionQuality> detection = {};
  std::optional<Tally> pseudo_labels = {};
};

/// One row of the results. Accuracies are in [0, 1]. Classes without images do not
/// count; an accuracy of which no image is left is NaN, and means leave it out.
struct StepMetrics {
  double accuracy = 0;     ///< Step-level: share of right images among those of all seen classes
  double s1_accuracy = 0;  ///< S-1: mean over the first classes of each one's accuracy
  /// S-1 as the authors' program computes it: each class rounded to three decimals.
  double s1_accuracy_rounded = 0;
  double accuracy_drop = 0;           ///< S-1 of step 1 minus S-1 of this step
  double relative_accuracy_drop = 0;  ///< the same divided by S-1 of step 1; 0 if that is 0
  std::vector<double>
      group_accuracy;  ///< [T]: on the images of each step's classes, future ones too
  std::optional<DetectionQuality> detection;
  std::optional<Tally> pseudo_labels;
};

/// All figures of a run; `docs/metrics.md` has the formulas.
struct RunMetrics {
  std::vector<double> source_group_accuracy;  ///< [T]: of the source model, before the first step
  std::vector<StepMetrics> steps;             ///< those done
  double final_accuracy = 0;                  ///< Step-level accuracy of the last step done
  double mean_accuracy = 0;                   ///< mean of the Step-level accuracies
  double final_s1_accuracy = 0;
  double mean_s1_accuracy = 0;
  /// Mean over the groups before the last step of (best accuracy since the group
  /// arrived, the last step excluded) - (accuracy now). 0 with one step.
  double forgetting = 0;
  /// Mean over the same groups of (accuracy now) - (accuracy when it arrived).
  double backward_transfer = 0;
  std::optional<double> mean_recall;
  std::optional<double> mean_precision;
  std::optional<double> pseudo_label_accuracy;  ///< over the images of all steps together
};

/// `source` are the source model's results before the first step, over the same classes as the
/// steps' records. There must be at least one step, and no more than the schedule has.
RunMetrics summarise(const ClassSchedule& schedule, std::span<const ClassAccuracy> source,
                     std::span<const StepRecord> steps);

/// Mean and standard deviation (with n - 1; 0 for a single value) of at least one value.
struct MeanStd {
  double mean = 0;
  double std = 0;
};
MeanStd mean_std(std::span<const double> values);

}  // namespace proca::protocol
