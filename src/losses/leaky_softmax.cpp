#include "losses/leaky_softmax.h"

#include <cmath>

namespace proca::losses {
namespace {

double log_of_classes(const torch::Tensor& logits) {
  TORCH_CHECK(logits.dim() == 2, "leaky softmax: logits ", logits.sizes());
  return std::log(static_cast<double>(logits.size(1)));
}

}  // namespace

torch::Tensor leaky_log_softmax(const torch::Tensor& logits) {
  const double leak = log_of_classes(logits);
  const auto sums = logits.logsumexp(1, /*keepdim=*/true);
  // log(K + sum exp z) = log K + log(1 + exp(log sum exp z - log K))
  return logits - torch::softplus(sums - leak) - leak;
}

torch::Tensor leaky_domain_logits(const torch::Tensor& logits) {
  return logits.logsumexp(1) - log_of_classes(logits);
}

torch::Tensor leaky_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels) {
  TORCH_CHECK(labels.dim() == 1 && labels.size(0) == logits.size(0), "leaky_cross_entropy: logits ",
              logits.sizes(), " and labels ", labels.sizes());
  if (logits.size(0) == 0) return logits.sum();
  const auto log_yes = leaky_log_softmax(logits);
  const auto log_no = torch::log1p(-log_yes.exp().clamp_max(1 - 1e-7));
  const auto own = torch::zeros_like(logits).scatter(1, labels.unsqueeze(1), 1);
  return -(own * log_yes + (1 - own) * log_no).sum(1).mean();
}

torch::Tensor instance_weights(const torch::Tensor& domain_logits) {
  const auto unlike_source = torch::sigmoid(-domain_logits.detach());
  return unlike_source / (unlike_source.mean() + 1e-10);
}

}  // namespace proca::losses
