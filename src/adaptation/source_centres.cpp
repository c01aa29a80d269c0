#include "adaptation/source_centres.h"

#include <algorithm>
#include <vector>

namespace proca::adaptation {
namespace {

/// How many images each class has. `labels` must be int64 on the CPU.
std::vector<int64_t> count_classes(const torch::Tensor& labels, int64_t num_classes) {
  std::vector<int64_t> counts(static_cast<size_t>(num_classes), 0);
  const auto* values = labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < labels.size(0); ++i) {
    TORCH_CHECK(values[i] >= 0 && values[i] < num_classes, "label ", values[i], " of image ", i,
                " is none of ", num_classes, " classes");
    ++counts[static_cast<size_t>(values[i])];
  }
  return counts;
}

torch::Tensor host_labels(const torch::Tensor& labels) {
  TORCH_CHECK(labels.dim() == 1, "labels must be a vector, not ", labels.sizes());
  return labels.to(torch::kCPU, torch::kInt64).contiguous();
}

}  // namespace

ClassCentres::ClassCentres(int64_t num_classes, int64_t feature_size, torch::Device device)
    : sums_(
          torch::zeros({num_classes, feature_size}, torch::dtype(torch::kFloat64).device(device))),
      counts_(static_cast<size_t>(num_classes), 0) {}

void ClassCentres::add(const torch::Tensor& features, const torch::Tensor& labels) {
  TORCH_CHECK(features.dim() == 2 && labels.dim() == 1 && labels.size(0) == features.size(0),
              "class centres: features ", features.sizes(), " and labels ", labels.sizes());
  const auto host = host_labels(labels);
  const auto counts = count_classes(host, sums_.size(0));
  for (size_t label = 0; label < counts.size(); ++label) counts_[label] += counts[label];
  const auto rows = features.detach().to(sums_.device(), torch::kFloat64).contiguous();
  if (!sums_.is_cpu()) {
    // A product with zeros and ones: unlike adding rows at an index it always sums in one
    // order, and nothing is read back.
    auto members = torch::zeros({sums_.size(0), rows.size(0)}, rows.options());
    members.scatter_(0, host.to(sums_.device()).unsqueeze(0), 1.0);
    sums_.addmm_(members, rows);
    return;
  }
  const int64_t size = sums_.size(1);
  for (int64_t image = 0; image < rows.size(0); ++image) {
    const auto* row = rows.data_ptr<double>() + image * size;
    double* sum = sums_.data_ptr<double>() + host.data_ptr<int64_t>()[image] * size;
    for (int64_t i = 0; i < size; ++i) sum[i] += row[i];
  }
}

void ClassCentres::add_up(compute::Ranks& ranks) {
  ranks.sum(sums_);
  const auto counts = torch::tensor(counts_, torch::kInt64).to(sums_.device());
  ranks.sum(counts);
  const auto host = counts.to(torch::kCPU);
  std::copy_n(host.data_ptr<int64_t>(), counts_.size(), counts_.begin());
}

torch::Tensor ClassCentres::centres() const {
  auto divisors = torch::empty({sums_.size(0), 1}, torch::kFloat64);
  std::transform(counts_.begin(), counts_.end(), divisors.data_ptr<double>(),
                 [](int64_t count) { return static_cast<double>(std::max<int64_t>(count, 1)); });
  return sums_.div(divisors.to(sums_.device())).to(torch::kFloat32);
}

torch::Tensor class_centres(const torch::Tensor& features, const torch::Tensor& labels,
                            int64_t num_classes) {
  TORCH_CHECK(features.dim() == 2, "class_centres: features ", features.sizes());
  ClassCentres centres(num_classes, features.size(1));
  centres.add(features, labels);
  return centres.centres().to(features.device(), features.scalar_type());
}

torch::Tensor class_prior(const torch::Tensor& labels, int64_t num_classes) {
  const auto counts = count_classes(host_labels(labels), num_classes);
  const auto total = static_cast<double>(std::max<int64_t>(labels.size(0), 1));
  auto prior = torch::empty({num_classes}, torch::kFloat32);
  std::transform(counts.begin(), counts.end(), prior.data_ptr<float>(), [&](int64_t count) {
    return static_cast<float>(static_cast<double>(count) / total);
  });
  return prior.to(labels.device());
}

}  // namespace proca::adaptation
