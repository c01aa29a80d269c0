#include "proca/adaptation/class_background.h"

#include <stdexcept>

namespace proca::adaptation {

void ClassBackground::add(const torch::Tensor& log_probabilities, const torch::Tensor& labels) {
  TORCH_CHECK(log_probabilities.dim() == 2 && labels.dim() == 1 &&
                  labels.size(0) == log_probabilities.size(0),
              "ClassBackground: log-probabilities ", log_probabilities.sizes(), " and labels ",
              labels.sizes());
  const auto rows = log_probabilities.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto num_classes = static_cast<size_t>(rows.size(1));
  if (empty()) {
    sums_.assign(num_classes, 0.0);
    counts_.assign(num_classes, 0);
  }
  TORCH_CHECK(sums_.size() == num_classes, "ClassBackground: ", num_classes, " classes, not ",
              sums_.size());
  const auto* value = rows.data_ptr<double>();
  const auto* label = labels.data_ptr<int64_t>();
  for (int64_t image = 0; image < rows.size(0); ++image, value += num_classes) {
    for (size_t k = 0; k < num_classes; ++k) {
      if (static_cast<int64_t>(k) == label[image]) continue;
      sums_[k] += value[k];
      ++counts_[k];
    }
  }
}

ClassBackground ClassBackground::restore(std::vector<double> sums, std::vector<int64_t> counts) {
  if (sums.size() != counts.size()) {
    throw std::invalid_argument("a class background has as many sums as counts");
  }
  ClassBackground background;
  background.sums_ = std::move(sums);
  background.counts_ = std::move(counts);
  return background;
}

}  // namespace proca::adaptation
