#include "proca/adaptation/source_centres.h"

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

torch::Tensor class_centres(const torch::Tensor& features, const torch::Tensor& labels,
                            int64_t num_classes) {
  TORCH_CHECK(features.dim() == 2 && labels.dim() == 1 && labels.size(0) == features.size(0),
              "class_centres: features ", features.sizes(), " and labels ", labels.sizes());
  const auto host = host_labels(labels);
  const auto counts = count_classes(host, num_classes);
  const auto* classes = host.data_ptr<int64_t>();
  const int64_t size = features.size(1);
  auto centres = torch::zeros({num_classes, size}, torch::kFloat64);
  auto* sums = centres.data_ptr<double>();

  // In blocks: a million source images as doubles would not fit into memory.
  constexpr int64_t kBlock = 4096;
  for (int64_t begin = 0; begin < features.size(0); begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, features.size(0));
    const auto block =
        features.detach().slice(0, begin, end).to(torch::kCPU, torch::kFloat64).contiguous();
    const auto* row = block.data_ptr<double>();
    for (int64_t image = begin; image < end; ++image, row += size) {
      double* sum = sums + classes[image] * size;
      for (int64_t i = 0; i < size; ++i) sum[i] += row[i];
    }
  }
  for (int64_t label = 0; label < num_classes; ++label) {
    const auto divisor =
        static_cast<double>(std::max<int64_t>(counts[static_cast<size_t>(label)], 1));
    for (int64_t i = 0; i < size; ++i) sums[label * size + i] /= divisor;
  }
  return centres.to(features.device(), features.scalar_type());
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
