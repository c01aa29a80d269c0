// Detection as an estimate of the target's class prior: Saerens,
// Latinne and Decaestecker, "Adjusting the outputs of a classifier to new a priori
// probabilities", Neural Computation 2002.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "adaptation/detection/detection_rules.h"
#include "adaptation/host_doubles.h"
#include "proca/core/error.h"

namespace proca::adaptation {
namespace {

// No share is known better than this.
constexpr double kPrecision = 1e-6;

/// p^(1/temperature) of every probability. Rows need not add up to 1: each is
/// normalised in every round anyway.
torch::Tensor softened(const torch::Tensor& probabilities, double temperature) {
  auto result = checked_probabilities(probabilities).clone();
  auto* values = result.data_ptr<double>();
  std::transform(values, values + result.numel(), values,
                 [&](double p) { return std::pow(p, 1 / temperature); });
  return result;
}

std::vector<double> checked_prior(const torch::Tensor& source_prior, int64_t num_classes) {
  TORCH_CHECK(
      source_prior.defined() && source_prior.dim() == 1 && source_prior.size(0) == num_classes,
      "estimate_label_shift: needs the source prior of ", num_classes, " classes");
  const auto host = source_prior.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const auto* values = host.data_ptr<double>();
  std::vector<double> prior(values, values + num_classes);
  for (const double share : prior) {
    if (!(share >= 0) || !std::isfinite(share)) {
      throw Error(fmt::format("the source prior holds {}, which is no share of images", share));
    }
  }
  const double total = std::accumulate(prior.begin(), prior.end(), 0.0);
  if (!(total > 0)) throw Error("the source prior is zero for every class");
  for (double& share : prior) share /= total;
  return prior;
}

}  // namespace

std::vector<double> estimate_label_shift(const torch::Tensor& probabilities,
                                         const torch::Tensor& source_prior, double temperature) {
  TORCH_CHECK(temperature > 0, "estimate_label_shift: temperature ", temperature);
  const auto evidence = softened(probabilities, temperature);
  const int64_t num_images = evidence.size(0);
  const auto num_classes = static_cast<size_t>(evidence.size(1));
  const auto prior = checked_prior(source_prior, evidence.size(1));
  auto shares = prior;
  if (num_images == 0) return shares;

  std::vector<double> ratios(num_classes);
  std::vector<double> next(num_classes);
  double largest_move = 1;
  for (int64_t round = 0; round < 1000 && largest_move > kPrecision; ++round) {
    for (size_t k = 0; k < num_classes; ++k) ratios[k] = prior[k] > 0 ? shares[k] / prior[k] : 0;
    std::fill(next.begin(), next.end(), 0.0);
    const auto* row = evidence.data_ptr<double>();
    for (int64_t image = 0; image < num_images; ++image, row += num_classes) {
      double total = 0;
      for (size_t k = 0; k < num_classes; ++k) total += row[k] * ratios[k];
      for (size_t k = 0; k < num_classes; ++k) {
        // An image without any probability for the possible classes changes nothing.
        next[k] += total > 0 ? row[k] * ratios[k] / total : shares[k];
      }
    }
    largest_move = 0;
    for (size_t k = 0; k < num_classes; ++k) {
      next[k] /= static_cast<double>(num_images);
      largest_move = std::max(largest_move, std::abs(next[k] - shares[k]));
    }
    std::swap(shares, next);
  }
  return shares;
}

void detect_by_label_shift(const DetectionInput& input, const DetectionOptions& options,
                           SharedClasses& result) {
  result.scores =
      estimate_label_shift(input.probabilities, input.source_prior, options.temperature);
  result.threshold = 1 / static_cast<double>(result.scores.size());
  for (size_t k = 0; k < result.scores.size(); ++k) {
    if (result.scores[k] > result.threshold + kPrecision) {
      result.classes.push_back(static_cast<int64_t>(k));
    }
  }
}

}  // namespace proca::adaptation
