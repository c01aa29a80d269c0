#include "losses/guides.h"

#include <limits>

#include "losses/unit_rows.h"
#include "proca/losses/cross_entropy.h"

namespace proca::losses {

torch::Tensor guide_similarities(const torch::Tensor& features, const torch::Tensor& guides) {
  TORCH_CHECK(features.dim() == 2 && guides.dim() == 2 && features.size(1) == guides.size(1),
              "guide_similarities: features ", features.sizes(), " and guides ", guides.sizes());
  return unit_rows(features).matmul(unit_rows(guides).t());
}

torch::Tensor guide_separation_loss(const torch::Tensor& guides, double temperature) {
  TORCH_CHECK(temperature > 0, "guide_separation_loss: temperature ", temperature);
  // A guide's cosine with itself is 1 and cannot change; what is computed for it is
  // only nearly 1, and would bring a gradient of rounding errors.
  const auto own = torch::eye(guides.size(0), guides.options().dtype(torch::kBool));
  const auto logits = guide_similarities(guides, guides).masked_fill(own, 1.0) / temperature;
  return (torch::logsumexp(logits, 1) - 1.0 / temperature).mean();
}

torch::Tensor guide_attraction_loss(const torch::Tensor& features, const torch::Tensor& labels,
                                    const torch::Tensor& guides, double temperature) {
  TORCH_CHECK(temperature > 0, "guide_attraction_loss: temperature ", temperature);
  return cross_entropy(guide_similarities(features, guides) / temperature, labels);
}

torch::Tensor gaussian_separation_loss(const torch::Tensor& latents, const torch::Tensor& labels,
                                       const torch::Tensor& means, const torch::Tensor& variances,
                                       const torch::Tensor& present) {
  TORCH_CHECK(latents.dim() == 2 && means.dim() == 2 && latents.size(1) == means.size(1) &&
                  variances.sizes() == means.sizes(),
              "gaussian_separation_loss: latents ", latents.sizes(), ", means ", means.sizes(),
              " and variances ", variances.sizes());
  const auto offsets = latents.unsqueeze(1) - means.detach().unsqueeze(0);  // [N, K, D]
  auto logits = offsets.square().div(variances.detach().unsqueeze(0)).mean(2) * -0.5;
  if (present.defined()) {
    logits = logits.masked_fill(present.logical_not(), -std::numeric_limits<double>::infinity());
  }
  return cross_entropy(logits, labels);
}

}  // namespace proca::losses
