#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

namespace proca::adaptation {

/// What a detection rule works on.
struct DetectionInput {
  /// float [N, K]: a model's softmax on the step's target images.
  torch::Tensor probabilities = {};
  /// float [K]: share of each class among the source images; only `label-shift` needs it.
  torch::Tensor source_prior = {};
};

/// Options of all rules; each uses its own.
struct DetectionOptions {
  std::string rule = "scd";  ///< `scd`, `hbw`, `label-shift` or `none`, see below
  double alpha = 0.15;       ///< `scd`: threshold on the normalised cumulative probability
  enum class GroupWeights {
    kCount,  ///< by the number of classes in a group
    kMass,   ///< by the group's share of the cumulative probability
  } hbw_weights = GroupWeights::kCount;
  double temperature = 2.0;  ///< `label-shift`: softens the probabilities before counting

  /// Throws `InvalidOption` naming the first field that is out of range; an
  /// unknown rule with the nearest known one.
  void validate() const;
};

/// Which source classes a step's target images seem to show, with what the rule computed.
struct SharedClasses {
  std::vector<int64_t> classes = {};    ///< detected, ascending; at least one
  std::vector<double> sums = {};        ///< [K]: sum of probabilities by class
  std::vector<double> cumulative = {};  ///< [K]: sum of probabilities by class, min-max normalised
  std::vector<double> scores = {};      ///< [K]: what the rule compared with `threshold`
  double threshold = 0;
};

/// Applies the rule that `options` names. With u_k = sum_i p_ik the rules keep these
/// classes:
///
/// - `scd`: where u, min-max normalised, is at least alpha;
/// - `hbw`: above the cut of the sorted u that maximises w_P w_N (m_P - m_N)^2, the
///   variance between the two groups (means m, weights w by count or by mass); the
///   smallest cut on ties. Score is the normalised u, threshold that of the last kept;
/// - `label-shift`: whose share of the target, estimated by expectation-maximisation
///   from the source prior and softened probabilities, exceeds 1/K (by 1e-6, the
///   precision of the estimate);
/// - `none`: all K.
///
/// All arithmetic is in double on the CPU, so that the same probabilities give the same
/// classes on every machine. If a rule keeps nothing, the class of the highest score is
/// kept. When all u are equal, every class is as likely as any other and all are
/// normalised to 1.
///
/// Throws `InputError` when there is no image, and `Error` when a probability is negative
/// or not a finite number.
SharedClasses detect_shared_classes(const DetectionInput& input, const DetectionOptions& options);

}  // namespace proca::adaptation
