#include "adaptation/source_centres.h"

#include <algorithm>

namespace proca::adaptation {
namespace {

/// How many images each class has, int64 [K]. `labels` must be int64 on the CPU.
torch::Tensor count_classes(const torch::Tensor& labels, int64_t num_classes) {
  TORCH_CHECK(labels.dim() == 1, "labels must be a vector, not ", labels.sizes());
  TORCH_CHECK(((labels >= 0) & (labels < num_classes)).all().item<bool>(),
              "a label is none of the ", num_classes, " classes");
  return torch::bincount(labels, /*weights=*/{}, num_classes);
}

}  // namespace

ClassCentres::ClassCentres(int64_t num_classes, int64_t feature_size, torch::Device device)
    : sums_(
          torch::zeros({num_classes, feature_size}, torch::dtype(torch::kFloat64).device(device))),
      counts_(torch::zeros({num_classes}, torch::kInt64)) {}

void ClassCentres::add(const torch::Tensor& features, const torch::Tensor& labels) {
  TORCH_CHECK(features.dim() == 2 && labels.dim() == 1 && labels.size(0) == features.size(0),
              "class centres: features ", features.sizes(), " and labels ", labels.sizes());
  const auto host = labels.to(torch::kCPU, torch::kInt64);
  counts_ += count_classes(host, sums_.size(0));
  const auto rows = features.detach().to(sums_.device(), torch::kFloat64);
  if (sums_.is_cpu()) {
    sums_.index_add_(0, host, rows);
    return;
  }
  // A product with zeros and ones: unlike `index_add_` on a GPU it always sums in one order.
  auto members = torch::zeros({sums_.size(0), rows.size(0)}, rows.options());
  members.scatter_(0, host.to(sums_.device()).unsqueeze(0), 1.0);
  sums_.addmm_(members, rows);
}

void ClassCentres::add_up(compute::Ranks& ranks) {
  ranks.sum(sums_);
  const auto counts = counts_.to(sums_.device());
  ranks.sum(counts);
  counts_ = counts.to(torch::kCPU);
}

torch::Tensor ClassCentres::centres() const {
  const auto divisors = counts_.clamp_min(1).to(torch::kFloat64).unsqueeze(1);
  return sums_.div(divisors.to(sums_.device())).to(torch::kFloat32);
}

torch::Tensor class_prior(const torch::Tensor& labels, int64_t num_classes) {
  const auto counts = count_classes(labels.to(torch::kCPU, torch::kInt64), num_classes);
  const auto total = static_cast<double>(std::max<int64_t>(labels.size(0), 1));
  return counts.to(torch::kFloat64).div(total).to(labels.device(), torch::kFloat32);
}

}  // namespace proca::adaptation
