#pragma once

#include <vector>

#include <torch/types.h>

#include "proca/adaptation/shared_classes.h"

namespace proca::adaptation {

/// The probabilities as host doubles [N, K]; throws `Error` for one that is negative
/// or not finite.
torch::Tensor checked_probabilities(const torch::Tensor& probabilities);

/// Sum over the images for every class, in the order of the images.
std::vector<double> class_sums(const torch::Tensor& probabilities);

/// (u - min) / (max - min); all 1 when all are equal.
std::vector<double> min_max_normalised(std::vector<double> values);

RuleResult detect_by_variance(const DetectionInput& input, const DetectionOptions& options);
RuleResult detect_by_label_shift(const DetectionInput& input, const DetectionOptions& options);

}  // namespace proca::adaptation
