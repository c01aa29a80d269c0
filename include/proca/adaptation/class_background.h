#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

namespace proca::adaptation {

/// What a classifier gives to each class on images that do not show it: the mean of log p_ik
/// over images i whose label is not k, over all steps so far.
///
/// Images of a new look are often all taken a little for one and the same class (every sketch
/// is somewhat of a guitar). Such a class collects much probability in every step, and no step
/// shows it. What a class gets anyway is its background; only what exceeds it is evidence.
class ClassBackground {
 public:
  /// Adds a step: log-probabilities, double [N, K], and the labels, int64 [N], its images got.
  void add(const torch::Tensor& log_probabilities, const torch::Tensor& labels);

  bool empty() const { return sums_.empty(); }
  const std::vector<double>& sums() const { return sums_; }       ///< [K], of log p
  const std::vector<int64_t>& counts() const { return counts_; }  ///< [K], images in each sum

  /// What `sums` and `counts` returned. Throws `std::invalid_argument` if they do not fit.
  static ClassBackground restore(std::vector<double> sums, std::vector<int64_t> counts);

 private:
  std::vector<double> sums_;
  std::vector<int64_t> counts_;
};

}  // namespace proca::adaptation
