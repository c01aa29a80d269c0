#include "proca/adaptation/pseudo_labels.h"

#include <algorithm>

#include "adaptation/clustering.h"
#include "adaptation/host_doubles.h"

namespace proca::adaptation {
namespace {

// Cosines this close are equal but for rounding.
constexpr double kEqualCosine = 1e-12;

struct Assignment {
  std::vector<int64_t> places;       // index in the list of classes
  std::vector<double> similarities;  // cosine to that class
};

/// Centroids of some classes.
struct Centroids {
  std::vector<int64_t> classes;
  torch::Tensor rows;  // double [S, D']
};

Assignment nearest(const Points& points, const Centroids& centroids) {
  const auto directions = unit_rows(centroids.rows).t();
  const int64_t num_images = points.rows.size(0);
  const int64_t num_classes = directions.size(1);
  const auto* lengths = points.lengths.data_ptr<double>();
  Assignment result;
  // In blocks, so that many images times many classes need no room at once.
  constexpr int64_t kBlock = 4096;
  for (int64_t begin = 0; begin < num_images; begin += kBlock) {
    const auto products = points.rows.slice(0, begin, begin + kBlock).matmul(directions);
    const auto* row = products.data_ptr<double>();
    for (int64_t i = 0; i < products.size(0); ++i, row += num_classes) {
      const double length = lengths[begin + i];
      const auto cosine = [&](int64_t k) { return length > 0 ? row[k] / length : 0.0; };
      int64_t best = 0;
      for (int64_t k = 1; k < num_classes; ++k) {
        if (cosine(k) > cosine(best) + kEqualCosine) best = k;
      }
      result.places.push_back(best);
      result.similarities.push_back(cosine(best));
    }
  }
  return result;
}

Centroids soft_centroids(const Points& points, const torch::Tensor& weights,
                         const std::vector<int64_t>& classes) {
  const auto totals = weights.sum(0).unsqueeze(1) + 1e-8;
  return {classes, weights.t().matmul(points.rows) / totals};
}

/// Without the classes that no image was assigned to: their centroid would be
/// 0 / 0, and comparing with NaN would assign every image to the class.
Centroids hard_centroids(const Points& points, const Assignment& assignment,
                         const std::vector<int64_t>& classes) {
  const auto num_classes = static_cast<int64_t>(classes.size());
  const auto places = torch::tensor(assignment.places, torch::kInt64);
  const auto counts = torch::bincount(places, /*weights=*/{}, num_classes);
  const auto sums = torch::zeros({num_classes, points.rows.size(1)}, torch::kFloat64)
                        .index_add_(0, places, points.rows);
  const auto kept = counts.nonzero().flatten();
  Centroids result{{}, sums.index_select(0, kept) / counts.index_select(0, kept).unsqueeze(1)};
  for (int64_t i = 0; i < kept.numel(); ++i) {
    result.classes.push_back(classes[static_cast<size_t>(kept.data_ptr<int64_t>()[i])]);
  }
  return result;
}

torch::Tensor labels_of(const Assignment& assignment, const std::vector<int64_t>& classes) {
  auto labels = torch::empty({static_cast<int64_t>(assignment.places.size())}, torch::kInt64);
  std::transform(assignment.places.begin(), assignment.places.end(), labels.data_ptr<int64_t>(),
                 [&](int64_t place) { return classes[static_cast<size_t>(place)]; });
  return labels;
}

}  // namespace

Points make_points(const torch::Tensor& features, CentroidSpace space) {
  auto rows = host_doubles(features, "features");
  if (space == CentroidSpace::kUnit) {
    rows = unit_rows(torch::cat({rows, torch::ones({rows.size(0), 1}, torch::kFloat64)}, 1));
  }
  return {rows, rows.norm(2, /*dim=*/1)};
}

PseudoLabels cluster_points(const Points& points, const torch::Tensor& weights,
                            const std::vector<int64_t>& classes) {
  const auto first = soft_centroids(points, weights, classes);
  const auto first_round = nearest(points, first);
  const auto second = hard_centroids(points, first_round, classes);
  const auto second_round = nearest(points, second);
  return {.labels = labels_of(second_round, second.classes),
          .first_labels = labels_of(first_round, first.classes),
          .similarities = torch::tensor(second_round.similarities, torch::kFloat64)};
}

PseudoLabels cluster_pseudo_labels(const torch::Tensor& features,
                                   const torch::Tensor& probabilities,
                                   const std::vector<int64_t>& classes, CentroidSpace space) {
  TORCH_CHECK(
      features.dim() == 2 && probabilities.dim() == 2 && features.size(0) == probabilities.size(0),
      "cluster_pseudo_labels: features ", features.sizes(), " and probabilities ",
      probabilities.sizes());
  TORCH_CHECK(!classes.empty() && std::is_sorted(classes.begin(), classes.end()) &&
                  classes.front() >= 0 && classes.back() < probabilities.size(1),
              "cluster_pseudo_labels: classes must be ascending and have probabilities");
  const auto weights =
      host_doubles(probabilities, "probabilities").index_select(1, torch::tensor(classes));
  return cluster_points(make_points(features, space), weights, classes);
}

}  // namespace proca::adaptation
