// Detection by competition: a class that is not there takes part in many images a little but
// wins few of them, so its cluster stays small however much probability it collects in all.

#include <algorithm>
#include <numeric>

#include "adaptation/clustering.h"
#include "adaptation/detection/detection_rules.h"
#include "adaptation/detection/neighbours.h"
#include "adaptation/host_doubles.h"

namespace proca::adaptation {
namespace {

// Below this probabilities are the noise of a softmax.
constexpr double kLeastProbability = 1e-8;
constexpr double kNoShare = 1e-300;  // Keeps a row without any probability from 0 / 0.
// With more classes than this one in so many may be dropped per round: thousands of candidates
// would otherwise take thousands of rounds.
constexpr size_t kOneIn = 32;

torch::Tensor normalised_rows(const torch::Tensor& rows) {
  return rows / (rows.sum(1, /*keepdim=*/true) + kNoShare);
}

/// Sum of each class's probability over the images of its cluster.
std::vector<double> cluster_masses(const torch::Tensor& weights, const torch::Tensor& labels,
                                   const std::vector<int64_t>& classes) {
  std::vector<double> masses(classes.size(), 0.0);
  const auto* label = labels.data_ptr<int64_t>();
  const auto* row = weights.data_ptr<double>();
  for (int64_t image = 0; image < weights.size(0); ++image, row += weights.size(1)) {
    const auto place = std::lower_bound(classes.begin(), classes.end(), label[image]);
    const auto index = static_cast<size_t>(place - classes.begin());
    masses[index] += row[index];
  }
  return masses;
}

std::vector<int64_t> candidates_of(const torch::Tensor& evidence, const DetectionInput& input,
                                   const DetectionOptions& options) {
  const auto shares = estimate_label_shift(evidence, input.source_prior, /*temperature=*/1);
  const double least = options.candidate_share / static_cast<double>(shares.size());
  std::vector<int64_t> candidates;
  for (size_t k = 0; k < shares.size(); ++k) {
    if (shares[k] > least) candidates.push_back(static_cast<int64_t>(k));
  }
  return candidates;
}

/// Places of the classes to drop, ascending: those of the smallest mass, too small to stay.
std::vector<size_t> places_to_drop(const std::vector<double>& masses, double least) {
  std::vector<size_t> order(masses.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return masses[a] < masses[b]; });
  const size_t most = std::min(std::max<size_t>(1, masses.size() / kOneIn), masses.size() - 1);
  std::vector<size_t> places;
  for (const size_t place : order) {
    if (places.size() == most || masses[place] >= least) break;
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  return places;
}

/// Of each class the mean over the half of the images where it is smallest, pooled with that of
/// earlier steps: double [K].
torch::Tensor background_of(const torch::Tensor& log_averages, const ClassBackground& earlier) {
  const int64_t num_images = log_averages.size(0);
  const int64_t half = std::max<int64_t>(1, num_images / 2);
  auto background = std::get<0>(log_averages.sort(/*dim=*/0)).slice(0, 0, half).mean(0);
  if (earlier.empty()) return background;
  const auto sums = torch::tensor(earlier.sums(), torch::kFloat64);
  const auto counts = torch::tensor(earlier.counts(), torch::kInt64).to(torch::kFloat64);
  const auto here = static_cast<double>(num_images);
  return (background * here + sums) / (counts + here);
}

void collect_evidence(const DetectionInput& input, const DetectionOptions& options,
                      SharedClasses& result) {
  TORCH_CHECK(input.features.defined(), "cluster-mass needs features");
  const auto probabilities = checked_probabilities(input.probabilities);
  const auto neighbours = input.neighbours.defined()
                              ? input.neighbours
                              : nearest_neighbours(input.features, options.neighbours);
  result.log_averages = (average_with(neighbours, probabilities) + kLeastProbability).log();
  const auto background = background_of(result.log_averages, input.background);
  const auto corrected =
      torch::softmax((probabilities + kLeastProbability).log() - options.correction * background,
                     /*dim=*/1);
  auto evidence = average_with(neighbours, corrected);
  if (!input.class_factors.empty()) {
    evidence = normalised_rows(evidence * torch::tensor(input.class_factors, torch::kFloat64));
  }
  result.evidence = evidence.contiguous();
}

}  // namespace

void detect_by_cluster_mass(const DetectionInput& input, const DetectionOptions& options,
                            SharedClasses& result) {
  collect_evidence(input, options, result);
  result.threshold = options.least_mass;
  result.scores.assign(result.sums.size(), 0.0);
  result.dropped_in.assign(result.sums.size(), -1);
  auto classes = candidates_of(result.evidence, input, options);
  const auto points = make_points(input.features, CentroidSpace::kUnit);
  for (int64_t round = 1; !classes.empty(); ++round) {
    const auto weights =
        normalised_rows(result.evidence.index_select(1, torch::tensor(classes, torch::kInt64)))
            .contiguous();
    const auto labels = cluster_points(points, weights, classes).labels;
    const auto masses = cluster_masses(weights, labels, classes);
    const double mean =
        std::accumulate(masses.begin(), masses.end(), 0.0) / static_cast<double>(masses.size());
    auto places = places_to_drop(masses, options.least_mass * mean);
    for (size_t i = 0; i < classes.size(); ++i) {
      const auto k = static_cast<size_t>(classes[i]);
      result.scores[k] = mean > 0 ? masses[i] / mean : 0;
      result.dropped_in[k] = std::binary_search(places.begin(), places.end(), i) ? round : 0;
    }
    if (places.empty()) break;
    for (; !places.empty(); places.pop_back()) {
      classes.erase(classes.begin() + static_cast<std::ptrdiff_t>(places.back()));
    }
  }
  result.classes = std::move(classes);
}

}  // namespace proca::adaptation
