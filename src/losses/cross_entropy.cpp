#include "proca/losses/cross_entropy.h"

#include "losses/weighted.h"

namespace proca::losses {

torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels) {
  const auto mean = negative_log_likelihood(logits, labels, at::Reduction::Mean);
  // The sum of nothing is a zero that backward() accepts.
  return logits.size(0) == 0 ? logits.sum() : mean;
}

torch::Tensor soft_cross_entropy(const torch::Tensor& logits, const torch::Tensor& soft_labels) {
  TORCH_CHECK(logits.dim() == 2 && soft_labels.sizes() == logits.sizes(),
              "soft_cross_entropy: logits ", logits.sizes(), " and soft labels ",
              soft_labels.sizes());
  if (logits.size(0) == 0) return logits.sum();
  const auto targets = soft_labels.detach().to(logits.scalar_type());
  return -(targets * torch::log_softmax(logits, 1)).sum(1).mean();
}

}  // namespace proca::losses
