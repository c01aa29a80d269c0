#include "proca/losses/prototype_contrastive.h"

#include <cmath>

#include <fmt/format.h>

#include "losses/unit_rows.h"
#include "models/weights/device_copy.h"
#include "proca/core/error.h"

namespace proca::losses {

void PrototypeContrastiveOptions::validate() const {
  if (!(temperature > 0) || !std::isfinite(temperature)) {
    throw InvalidOption(fmt::format("temperature {} must be a finite number above 0", temperature));
  }
  if (!(margin >= 0) || !std::isfinite(margin)) {
    throw InvalidOption(fmt::format("margin {} must be a finite number of at least 0", margin));
  }
}

torch::Tensor prototype_contrastive_loss(const torch::Tensor& features, const torch::Tensor& labels,
                                         const torch::Tensor& centres,
                                         const PrototypeContrastiveOptions& options,
                                         const torch::Tensor& negatives) {
  options.validate();
  TORCH_CHECK(features.dim() == 2 && centres.dim() == 2 && features.size(1) == centres.size(1),
              "prototype_contrastive_loss: features ", features.sizes(), " and centres ",
              centres.sizes());
  const int64_t num_images = features.size(0);
  TORCH_CHECK(labels.dim() == 1 && labels.size(0) == num_images,
              "prototype_contrastive_loss: features ", features.sizes(), " and labels ",
              labels.sizes());
  TORCH_CHECK(!negatives.defined() || (negatives.dim() == 2 && negatives.size(0) == num_images),
              "prototype_contrastive_loss: features ", features.sizes(), " and negatives ",
              negatives.defined() ? negatives.sizes() : torch::IntArrayRef());
  // The sum of nothing is a zero that backward() accepts.
  if (num_images == 0) return features.sum();

  auto points = features;
  auto targets = centres.detach().to(features.scalar_type());
  if (options.similarity == Similarity::kCosine) {
    points = unit_rows(points);
    targets = unit_rows(targets);
  }

  // Rows of the constant centres are picked, not columns of the similarities:
  // backward then needs no scatter, whose order of addition varies on a GPU.
  const auto own = (points * targets.index_select(0, labels)).sum(1, /*keepdim=*/true);
  const auto positive = (own - options.margin) / options.temperature;  // [N, 1]
  torch::Tensor competitors;                                           // [N, .]; own among them
  if (negatives.defined()) {
    const auto picked = targets.index_select(0, negatives.flatten())
                            .view({num_images, negatives.size(1), targets.size(1)});
    const auto others = torch::bmm(picked, points.unsqueeze(2)).squeeze(2);
    competitors = torch::cat({positive, others / options.temperature}, 1);
  } else {
    const auto classes = torch::arange(targets.size(0), labels.options());
    competitors = torch::where(labels.unsqueeze(1) == classes, positive,
                               points.matmul(targets.t()) / options.temperature);
  }
  return (torch::logsumexp(competitors, 1, /*keepdim=*/true) - positive).mean();
}

torch::Tensor sample_negatives(const torch::Tensor& labels, int64_t num_classes, int64_t count,
                               RandomStream& random) {
  TORCH_CHECK(labels.dim() == 1 && num_classes > 0 && count >= 0, "sample_negatives: ", count,
              " of ", num_classes, " classes for labels ", labels.sizes());
  if (num_classes == 1) count = 0;
  auto draws = torch::empty({labels.size(0), count}, torch::kInt64);
  auto* values = draws.data_ptr<int64_t>();
  for (int64_t i = 0; i < draws.numel(); ++i) values[i] = random.uniform_int(num_classes - 1);
  draws = models::copy_to(draws, labels.device());
  // Numbers from the label on move up by one, which leaves out the label itself.
  return draws + (draws >= labels.unsqueeze(1)).to(torch::kInt64);
}

}  // namespace proca::losses
