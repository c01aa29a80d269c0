// The cut of DPDAN (Hu et al., ECCV 2020) between source-positive and
// source-negative classes, as far as ProCA's description of it goes: Otsu's
// threshold on the cumulative probabilities.

#include <algorithm>
#include <numeric>

#include "adaptation/detection/detection_rules.h"

namespace proca::adaptation {
namespace {

// Variances this close are equal but for rounding.
constexpr double kEqualVariance = 1e-12;

/// How many of the sorted (descending) sums lie above the best cut.
size_t best_cut(const std::vector<double>& sorted, DetectionOptions::GroupWeights weights) {
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  // The variance does not change when all values move; from the smallest, equal
  // values give exactly 0.
  const double smallest = sorted.back();
  const auto num_classes = static_cast<double>(sorted.size());
  const double shifted_total =
      std::accumulate(sorted.begin(), sorted.end(), 0.0,
                      [&](double sum, double value) { return sum + (value - smallest); });
  size_t best = 1;
  double best_variance = -1;
  double above = 0;
  double shifted_above = 0;
  for (size_t cut = 1; cut < sorted.size(); ++cut) {
    above += sorted[cut - 1];
    shifted_above += sorted[cut - 1] - smallest;
    const auto count = static_cast<double>(cut);
    double weight = count / num_classes;
    if (weights == DetectionOptions::GroupWeights::kMass) weight = total > 0 ? above / total : 0;
    const double difference =
        shifted_above / count - (shifted_total - shifted_above) / (num_classes - count);
    const double variance = weight * (1 - weight) * difference * difference;
    if (best_variance < 0 || variance > best_variance * (1 + kEqualVariance)) {
      best = cut;
      best_variance = variance;
    }
  }
  return best;
}

}  // namespace

void detect_by_variance(const DetectionInput&, const DetectionOptions& options,
                        SharedClasses& result) {
  const auto& sums = result.sums;
  std::vector<int64_t> order(sums.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto sum_of = [&](int64_t k) { return sums[static_cast<size_t>(k)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sum_of(a) > sum_of(b); });
  std::vector<double> sorted;
  for (const int64_t k : order) sorted.push_back(sum_of(k));

  result.scores = result.cumulative;
  order.resize(best_cut(sorted, options.hbw_weights));
  result.threshold = result.scores[static_cast<size_t>(order.back())];
  std::sort(order.begin(), order.end());
  result.classes = std::move(order);
}

}  // namespace proca::adaptation
