// Whether pseudo-labels are right cannot be seen without true labels; whether they would be
// others had a free choice gone another way can.

#include "adaptation/detection/detection_rules.h"
#include "adaptation/detection/neighbours.h"
#include "proca/adaptation/step_health.h"

namespace proca::adaptation {
namespace {

/// Rows with only these classes, normalised: double [N, K].
torch::Tensor among(const torch::Tensor& rows, const std::vector<int64_t>& classes) {
  const auto kept = torch::zeros({rows.size(1)}, torch::kFloat64)
                        .index_fill_(0, torch::tensor(classes, torch::kInt64), 1.0);
  const auto masked = rows * kept;
  return masked / (masked.sum(1, /*keepdim=*/true) + 1e-300);
}

double mean_at(const torch::Tensor& rows, const torch::Tensor& labels) {
  return rows.gather(1, labels.unsqueeze(1)).mean().item<double>();
}

}  // namespace

PseudoLabels label_by_evidence(const torch::Tensor& features, const SharedClasses& detected) {
  return cluster_pseudo_labels(features, among(detected.evidence, detected.classes),
                               detected.classes);
}

PseudoLabels label_by_both(const torch::Tensor& features, const torch::Tensor& probabilities,
                           const SharedClasses& detected, int64_t num_neighbours) {
  const auto& classes = detected.classes;
  const auto neighbours = nearest_neighbours(features, num_neighbours);
  const auto theirs = average_with(neighbours, checked_probabilities(probabilities));
  return cluster_pseudo_labels(
      features, (among(detected.evidence, classes) + among(theirs, classes)) / 2, classes);
}

LabelTrust measure_trust(const DetectionInput& input, DetectionOptions options,
                         const SharedClasses& detected, const torch::Tensor& labels) {
  if (labels.numel() == 0) return {};
  options.correction = 1;
  const auto corrected = detect_shared_classes(input, options);
  const auto other_labels = label_by_evidence(input.features, corrected).labels;
  return {.confidence = mean_at(among(detected.evidence, detected.classes), labels),
          .stability = (other_labels == labels).to(torch::kFloat64).mean().item<double>(),
          .evidence = mean_at(detected.evidence, labels)};
}

}  // namespace proca::adaptation
