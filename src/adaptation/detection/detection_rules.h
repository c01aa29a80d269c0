#pragma once

#include <string_view>
#include <vector>

#include <torch/types.h>

#include "proca/adaptation/shared_classes.h"

namespace proca::adaptation {

/// One way to tell which classes the target shows. A new one is one entry in
/// `detection_rules()`.
struct DetectionRule {
  std::string_view name;
  std::string_view summary;  ///< one line for help and documentation
  /// Gets `result` with sums and cumulative probabilities and fills in the rest. It may
  /// leave the classes empty.
  void (*apply)(const DetectionInput& input, const DetectionOptions& options,
                SharedClasses& result);
};

const std::vector<DetectionRule>& detection_rules();

/// The probabilities as host doubles [N, K]; throws `Error` for one that is negative
/// or not finite.
torch::Tensor checked_probabilities(const torch::Tensor& probabilities);

/// (u - min) / (max - min); all 1 when all are equal.
std::vector<double> min_max_normalised(std::vector<double> values);

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

void detect_by_cluster_mass(const DetectionInput& input, const DetectionOptions& options,
                            SharedClasses& result);
void detect_by_variance(const DetectionInput& input, const DetectionOptions& options,
                        SharedClasses& result);
void detect_by_label_shift(const DetectionInput& input, const DetectionOptions& options,
                           SharedClasses& result);

}  // namespace proca::adaptation
