#include "losses/weighted.h"

#include <algorithm>
#include <limits>

namespace proca::losses {
namespace {

void check_same_length(const torch::Tensor& values, const torch::Tensor& weights) {
  TORCH_CHECK(values.dim() == 1 && weights.sizes() == values.sizes(), "values ", values.sizes(),
              " and weights ", weights.sizes());
}

}  // namespace

torch::Tensor negative_log_likelihood(const torch::Tensor& logits, const torch::Tensor& labels,
                                      int64_t reduction) {
  TORCH_CHECK(logits.dim() == 2 && labels.dim() == 1 && labels.size(0) == logits.size(0),
              "cross-entropy: logits ", logits.sizes(), " and labels ", labels.sizes());
  // By default LibTorch leaves out images with the label -100; here no label is ignored.
  constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  return torch::nll_loss(torch::log_softmax(logits, 1), labels, /*weight=*/{}, reduction, kNone);
}

torch::Tensor cross_entropy_each(const torch::Tensor& logits, const torch::Tensor& labels) {
  return negative_log_likelihood(logits, labels, at::Reduction::None);
}

torch::Tensor entropy_each(const torch::Tensor& logits) {
  TORCH_CHECK(logits.dim() == 2, "entropy_each: logits ", logits.sizes());
  const auto log_probabilities = torch::log_softmax(logits, 1);
  return -(log_probabilities.exp() * log_probabilities).sum(1);
}

torch::Tensor binary_cross_entropy_each(const torch::Tensor& logits, double target) {
  TORCH_CHECK(logits.dim() == 1, "binary_cross_entropy_each: logits ", logits.sizes());
  return torch::binary_cross_entropy_with_logits(logits, torch::full_like(logits, target),
                                                 /*weight=*/{}, /*pos_weight=*/{},
                                                 at::Reduction::None);
}

torch::Tensor average_by_weight(const torch::Tensor& values, const torch::Tensor& weights) {
  check_same_length(values, weights);
  return (weights * values).sum() / (weights.detach().sum() + 1e-8);
}

torch::Tensor mean_of_weighted(const torch::Tensor& values, const torch::Tensor& weights) {
  check_same_length(values, weights);
  return (weights * values).sum() / static_cast<double>(std::max<int64_t>(values.size(0), 1));
}

torch::Tensor weighted_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                                     const torch::Tensor& weights) {
  return average_by_weight(cross_entropy_each(logits, labels), weights);
}

}  // namespace proca::losses
