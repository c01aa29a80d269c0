#include "proca/losses/cross_entropy.h"

#include <limits>

namespace proca::losses {

torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels) {
  TORCH_CHECK(logits.dim() == 2 && labels.dim() == 1 && labels.size(0) == logits.size(0),
              "cross_entropy: logits ", logits.sizes(), " and labels ", labels.sizes());
  // The sum of nothing is a zero that backward() accepts.
  if (logits.size(0) == 0) return logits.sum();
  // By default LibTorch leaves out images with the label -100; here no label is ignored.
  constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  return torch::nll_loss(torch::log_softmax(logits, 1), labels, /*weight=*/{}, at::Reduction::Mean,
                         kNone);
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
