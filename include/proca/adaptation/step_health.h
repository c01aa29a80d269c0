#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/adaptation/pseudo_labels.h"
#include "proca/adaptation/shared_classes.h"

namespace proca::adaptation {

/// How far a step's pseudo-labels can be trusted, judged without any true label.
struct LabelTrust {
  /// Mean over the images of the probability of their label among the classes kept.
  double confidence = 0;
  /// Share of images that keep their label when the whole background is taken off the
  /// evidence (`DetectionOptions::correction` = 1), not only part of it.
  double stability = 0;
  /// Mean probability of the label among all classes.
  double evidence = 0;

  /// confidence (1 + stability) / 2: an estimate of the share of right labels. Of images whose
  /// label hangs on the correction about half are wrong.
  double expected_accuracy() const { return confidence * (1 + stability) / 2; }
};

/// `detected` and `labels`, int64 [N], are what `cluster-mass` found with these options.
/// Detects a second time, with the full correction. Without images everything is 0.
LabelTrust measure_trust(const DetectionInput& input, DetectionOptions options,
                         const SharedClasses& detected, const torch::Tensor& labels);

/// Labels for the classes that `cluster-mass` kept, by clustering over its evidence:
/// int64 [N], with similarities.
PseudoLabels label_by_evidence(const torch::Tensor& features, const SharedClasses& detected);

/// Labels for the same classes from the evidence of two models alike: the mean of `detected`'s,
/// among the classes kept, and of another model's probabilities, float [N, K], averaged over
/// neighbours and among these classes, too. Clusters are those of that model's features,
/// float [N, D].
PseudoLabels label_by_both(const torch::Tensor& features, const torch::Tensor& probabilities,
                           const SharedClasses& detected, int64_t num_neighbours);

/// What to think of a step.
enum class Verdict {
  kGood,
  kDoubtful,  ///< worth a look before the next step
  kRefused,   ///< training on these labels would probably do harm
};

/// `good`, `doubtful` or `refused`.
std::string verdict_word(Verdict verdict);

/// The condition of a step, for people and for the decision whether to train on it.
struct StepHealth {
  Verdict verdict = Verdict::kGood;
  std::string reason = {};  ///< one sentence
  double trust = 0;         ///< expected share of right pseudo-labels, in [0, 1]
  int64_t images = 0;
  int64_t classes_found = 0;
  double agreement = 0;          ///< share of images whose most probable class is their label
  double confidence_before = 0;  ///< mean largest probability, of the network before the step
  std::optional<double> confidence_after = {};  ///< and after it, if it was trained
  std::optional<double> changed = {};           ///< share of images whose class training changed
};

/// What `judge_step` looks at.
struct HealthInput {
  torch::Tensor source_probabilities = {};   ///< float [N, K], of the frozen source model
  torch::Tensor current_probabilities = {};  ///< float [N, K], of the network before the step
  torch::Tensor labels = {};                 ///< int64 [N]
  std::vector<int64_t> classes = {};         ///< kept
  LabelTrust trust = {};
};

/// The verdict before training. Refused are, in this order,
///
/// - a step all of whose images fall into one class although the evidence for it is below 1/2;
/// - a step of expected accuracy below 0.35;
///
/// doubtful are steps of fewer than 8 images, and of expected accuracy below 0.6.
StepHealth judge_step(const HealthInput& input);

/// Adds what the training did: classes before, int64 [N], and probabilities after it,
/// float [N, K].
void add_outcome(StepHealth& health, const torch::Tensor& before, const torch::Tensor& after);

}  // namespace proca::adaptation
