#include "losses/complement_entropy.h"

#include <cmath>

namespace proca::losses {

torch::Tensor complement_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                                 const torch::Tensor& weights) {
  TORCH_CHECK(logits.dim() == 2 && labels.dim() == 1 && labels.size(0) == logits.size(0) &&
                  weights.sizes() == labels.sizes(),
              "complement_entropy: logits ", logits.sizes(), ", labels ", labels.sizes(),
              " and weights ", weights.sizes());
  const int64_t num_classes = logits.size(1);
  // A single wrong class is always certain, and log(K - 1) is nothing to divide by.
  if (num_classes <= 2 || logits.size(0) == 0) return logits.sum() * 0;

  const auto wrong = torch::ones_like(logits).scatter(1, labels.unsqueeze(1), 0);
  const auto probabilities = torch::softmax(logits, 1) * wrong;
  // 1 - p_y as a sum: the difference would lose what is left when p_y is almost 1.
  const auto rest = probabilities.sum(1);
  const auto shares = probabilities / (rest + 1e-7).unsqueeze(1);
  const auto negative_entropy =
      (shares * (shares + 1e-10).log()).sum(1) / std::log(static_cast<double>(num_classes - 1));
  // The sum of 1 - p_y in w_j cancels out.
  const auto image_weights = (weights * rest).detach();
  return (image_weights * negative_entropy).sum() / image_weights.sum().clamp_min(1e-30);
}

}  // namespace proca::losses
