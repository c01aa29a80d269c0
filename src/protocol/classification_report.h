#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proca/protocol/metrics.h"

namespace proca::protocol {

/// How well predictions of one class agree with the labels, each in [0, 1] and 0 where nothing
/// was predicted or nothing is there.
struct ClassScores {
  double precision = 0;  ///< of the images taken for the class, how many are of it
  double recall = 0;     ///< of the images of the class, how many were taken for it
  double f1 = 0;         ///< their harmonic mean
};

/// Collects the probabilities of labelled images, one by one, for every figure of `proca
/// evaluate`.
///
/// Calibration error: images are sorted into 15 bins of equal width by the probability of the
/// class they were taken for; it is the mean distance between that probability and the accuracy
/// of a bin, weighed by its images (Guo et al., 2017). 0: of the images predicted with 80 %, 80 %
/// are right.
class ClassificationReport {
 public:
  explicit ClassificationReport(int64_t num_classes) : num_classes_(num_classes) {}

  /// An image of class `label`. `probabilities` has one value per class. Of equally probable
  /// classes the first one is predicted.
  void add(int64_t label, std::span<const float> probabilities);

  int64_t num_images() const { return static_cast<int64_t>(labels_.size()); }
  AccuracyReport accuracy() const { return measure_accuracy(predictions_, labels_, num_classes_); }
  /// Share of the images whose class is among the `k` most probable ones.
  double top(int64_t k) const;
  /// By label, of all classes of the model.
  std::vector<ClassScores> class_scores() const;
  /// Unweighted mean over the classes that occur.
  double macro_f1() const;
  double calibration_error() const;

 private:
  int64_t num_classes_;
  std::vector<int64_t> labels_, predictions_;
  std::vector<int64_t> ranks_;  // how many classes are more probable than the right one
  std::vector<double> confidences_;
};

/// The confusion as CSV: a line per true class, a column per predicted one, with their names.
std::string confusion_csv(const AccuracyReport& report, const std::vector<std::string>& names);

}  // namespace proca::protocol
