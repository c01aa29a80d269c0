#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torch/types.h>

namespace proca::adaptation {

/// What a detection rule looks at.
struct DetectionInput {
  /// float [N, K]: a model's softmax on the step's target images.
  torch::Tensor probabilities = {};
  /// float [K]: share of each class among the source images; only `label-shift` asks for it.
  torch::Tensor source_prior = {};
};

/// Options of all rules; each uses those it knows.
struct DetectionOptions {
  std::string rule = "scd";  ///< a name of `detection_rules()`
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

/// Which source classes a step's target images seem to show, and why.
struct SharedClasses {
  std::vector<int64_t> classes;    ///< detected, ascending; at least one
  std::vector<double> sums = {};   ///< [K]: sum of probabilities by class
  std::vector<double> cumulative;  ///< [K]: sum of probabilities by class, min-max normalised
  std::vector<double> scores;      ///< [K]: what the rule compared with `threshold`
  double threshold = 0;
};

/// Scores and the classes that pass.
struct RuleResult {
  std::vector<double> scores;
  double threshold = 0;
  std::vector<int64_t> classes;
};

/// One way to tell which classes are there. A new one is one entry in
/// `detection_rules()`.
struct DetectionRule {
  std::string_view name;
  std::string_view summary;  ///< one line for help and documentation
  RuleResult (*apply)(const DetectionInput& input, const DetectionOptions& options);
};

/// With u_k = sum_i p_ik the rules keep these classes:
///
/// - `scd`: where u, min-max normalised, is at least alpha;
/// - `hbw`: above the cut of the sorted u that maximises w_P w_N (m_P - m_N)^2, the
///   variance between the two groups (means m, weights w by count or by mass); the
///   smallest cut on ties. Score is the normalised u, threshold that of the last kept;
/// - `label-shift`: whose share of the target, estimated by expectation-maximisation
///   from the source prior and softened probabilities, exceeds 1/K (by 1e-6, the
///   precision of the estimate);
/// - `none`: all K.
const std::vector<DetectionRule>& detection_rules();

/// Sum over the images, then (u - min) / (max - min). When all are equal every
/// class is as likely as any other and all get 1.
std::vector<double> normalised_cumulative(const torch::Tensor& probabilities);

/// The target's class prior by expectation-maximisation (Saerens et al., 2002):
///
///     p~_ik  proportional to  p_ik^(1/temperature)
///     q_ik   proportional to  p~_ik pi_k / source_prior_k      pi_k <- mean_i q_ik
///
/// from pi = source_prior until no share moves by more than 1e-6, at most 1000
/// rounds. Classes without source images keep share 0; without images the result is
/// the source prior. Returns double [K], sum 1.
std::vector<double> estimate_label_shift(const torch::Tensor& probabilities,
                                         const torch::Tensor& source_prior, double temperature);

/// Applies the rule that `options` names. All arithmetic is in double on the CPU,
/// so that the same probabilities give the same classes on every machine.
///
/// Should a rule keep nothing, the class of the highest score is kept. Throws
/// `InputError` when there is no image, and `Error` when a probability is negative
/// or not a finite number.
SharedClasses detect_shared_classes(const DetectionInput& input, const DetectionOptions& options);

}  // namespace proca::adaptation
