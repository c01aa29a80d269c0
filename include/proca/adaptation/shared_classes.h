#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/adaptation/class_background.h"

namespace proca::adaptation {

/// What a detection rule works on.
struct DetectionInput {
  /// float [N, K]: a model's softmax on the step's target images.
  torch::Tensor probabilities = {};
  /// float [K]: share of each class among the source images, for `label-shift` and
  /// `cluster-mass`.
  torch::Tensor source_prior = {};
  /// float [N, D]: that model's features, for `cluster-mass`.
  torch::Tensor features = {};
  /// int64 [N, n]: the nearest neighbours by these features, if they are known already; else
  /// `cluster-mass` looks for them.
  torch::Tensor neighbours = {};
  /// By class, in (0, 1]: how likely it is that the class is among the images at all, before
  /// they have been looked at; empty for 1 everywhere. Only `cluster-mass` uses it.
  std::vector<double> class_factors = {};
  /// Of earlier steps, for `cluster-mass`; may be empty.
  ClassBackground background = {};
};

/// Options of all rules; each uses its own.
struct DetectionOptions {
  /// `scd`, `hbw`, `label-shift`, `cluster-mass` or `none`, see below.
  std::string rule = "scd";
  double alpha = 0.15;  ///< `scd`: threshold on the normalised cumulative probability
  enum class GroupWeights {
    kCount,  ///< by the number of classes in a group
    kMass,   ///< by the group's share of the cumulative probability
  } hbw_weights = GroupWeights::kCount;
  double temperature = 1.0;      ///< `label-shift`: softens the probabilities before counting
  double correction = 0.75;      ///< `cluster-mass`: how much of the background is taken off
  int64_t neighbours = 3;        ///< `cluster-mass`: how many an image is averaged with
  double candidate_share = 0.1;  ///< `cluster-mass`: candidates have more than this / K
  double least_mass = 0.3;       ///< `cluster-mass`: of the mean mass

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
  /// [K]: the round in which `cluster-mass` dropped the class; 0 if it kept it, -1 if it was
  /// no candidate. Empty for other rules.
  std::vector<int64_t> dropped_in = {};
  /// double [N, K]: what `cluster-mass` took for probabilities, and log a of its background;
  /// undefined for other rules.
  torch::Tensor evidence = {}, log_averages = {};
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
/// - `cluster-mass`: that hold enough of the images when these are divided among them.
///   With a_ik the probability averaged over image i and its nearest neighbours, the background
///   b_k of a class is the mean of log a_ik over the half of the images where it is smallest,
///   pooled with that of earlier steps. Evidence is softmax_k(log p_ik - correction b_k),
///   averaged over neighbours, times `class_factors`. Candidates are the classes whose share,
///   estimated as by `label-shift` at temperature 1 from it, exceeds candidate_share / K. Then,
///   again and again: cluster the images over the candidates left (`cluster_pseudo_labels`), the
///   mass of a class being the sum of its probability, of those left, over its cluster; drop the
///   class of the smallest mass if that is less than least_mass times the mean, until none is. (Of
///   more than 63 candidates left one in 32 may go at once.) Score is mass / mean mass, of a
///   dropped class that in its last round; of what was no candidate 0;
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
