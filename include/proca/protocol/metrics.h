#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace proca::protocol {

/// How a class fared.
struct ClassAccuracy {
  int64_t label = 0;
  int64_t num_images = 0;
  int64_t num_correct = 0;
  double accuracy() const {
    return static_cast<double>(num_correct) / static_cast<double>(num_images);
  }
};

/// How many images of a class were taken for which.
struct ConfusionCount {
  int64_t label = 0;      ///< true
  int64_t predicted = 0;  ///< label
  int64_t num_images = 0;
  bool operator==(const ConfusionCount&) const = default;
};

/// Accuracy on labelled images.
struct AccuracyReport {
  int64_t num_images = 0;
  int64_t num_correct = 0;
  std::vector<ClassAccuracy> classes;     ///< those that occur, by label
  std::vector<ConfusionCount> confusion;  ///< pairs that occur, by label, then by prediction

  /// Share of the images that are right (micro accuracy), in [0, 1].
  double accuracy() const {
    return static_cast<double>(num_correct) / static_cast<double>(num_images);
  }
  /// Unweighted mean over the classes that occur (macro accuracy), in [0, 1].
  double mean_class_accuracy() const;
};

/// Compares predicted with true labels, both in [0, num_classes). The two spans
/// must be equally long and not empty.
AccuracyReport measure_accuracy(std::span<const int64_t> predictions,
                                std::span<const int64_t> labels, int64_t num_classes);

}  // namespace proca::protocol
