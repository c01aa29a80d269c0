#include "proca/state/feature_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::state {
namespace {

using Labels = std::vector<int64_t>;

torch::Tensor tensor_of(const Labels& values) { return torch::tensor(values, torch::kInt64); }

// As many as there are points, whatever is known of them.
void append(Labels& all, const Labels& more, int64_t count) {
  TORCH_CHECK(more.empty() || static_cast<int64_t>(more.size()) == count, "labels of some points");
  if (more.empty()) {
    all.insert(all.end(), static_cast<size_t>(count), -1);
  } else {
    all.insert(all.end(), more.begin(), more.end());
  }
}

class Reader {
 public:
  Reader(const models::NamedTensors& tensors, const std::string& origin)
      : tensors_(tensors), origin_(origin) {}

  torch::Tensor features() const {
    auto features = find("features");
    if (features.dim() != 2 || features.scalar_type() != torch::kFloat32) {
      refuse("\"features\" is no table of float32");
    }
    if (!torch::isfinite(features).all().item<bool>()) {
      refuse("\"features\" holds a value that is no finite number");
    }
    return features;
  }

  Labels numbers(const std::string& name, int64_t count, int64_t low, int64_t high) const {
    const auto tensor = find(name).contiguous();
    if (tensor.scalar_type() != torch::kInt64 || tensor.dim() != 1 || tensor.size(0) != count) {
      refuse(fmt::format("\"{}\" is not {} numbers of int64", name, count));
    }
    const auto* values = tensor.data_ptr<int64_t>();
    Labels numbers(values, values + count);
    for (const int64_t number : numbers) {
      if (number < low || number > high) refuse(fmt::format("\"{}\" holds {}", name, number));
    }
    return numbers;
  }

 private:
  const torch::Tensor& find(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) refuse(fmt::format("\"{}\" is missing", name));
    return found->second;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: is damaged: {}", origin_, what));
  }

  const models::NamedTensors& tensors_;
  const std::string& origin_;
};

}  // namespace

std::vector<int64_t> evenly_spread(int64_t count, int64_t most) {
  const int64_t taken = std::min(count, most);
  std::vector<int64_t> indexes;
  for (int64_t i = 0; i < taken; ++i) indexes.push_back(i * count / taken);
  return indexes;
}

torch::Tensor principal_components(const torch::Tensor& points, int64_t most) {
  const torch::NoGradGuard no_grad;
  const auto centred = points.to(torch::kFloat64) - points.to(torch::kFloat64).mean(0, true);
  const int64_t wanted = std::min({most, points.size(0), points.size(1)});
  // Of the two matrices with the same eigenvalues the smaller one.
  const bool by_points = points.size(0) <= points.size(1);
  const auto matrix = by_points ? centred.mm(centred.t()) : centred.t().mm(centred);
  const auto [values, vectors] = torch::linalg_eigh(matrix, "L");
  const auto largest = vectors.narrow(1, vectors.size(1) - wanted, wanted).flip(1);
  const auto scale = values.narrow(0, values.size(0) - wanted, wanted).flip(0).clamp_min(0).sqrt();
  auto components = by_points ? largest * scale : centred.mm(largest);
  const auto extreme = components.gather(0, components.abs().argmax(0, /*keepdim=*/true));
  return (components * torch::where(extreme < 0, -1.0, 1.0)).to(torch::kFloat32).contiguous();
}

FeatureRecord make_feature_record(const FeatureSets& sets) {
  FeatureRecord record;
  std::vector<torch::Tensor> features;
  const bool labelled = !sets.target.labels.empty();
  const auto add = [&](const FeaturePoints& points, FeatureRecord::Kind kind) {
    const int64_t count = points.size();
    if (count == 0) return;
    features.push_back(points.features);
    record.kinds.insert(record.kinds.end(), static_cast<size_t>(count), kind);
    if (labelled) append(record.labels, points.labels, count);
    append(record.pseudo_labels, points.pseudo_labels, count);
    append(record.predicted, points.predicted, count);
  };
  add(sets.target, FeatureRecord::kTarget);
  add(sets.prototypes, FeatureRecord::kPrototype);
  add(sets.centres, FeatureRecord::kSourceCentre);
  const auto all = torch::cat(features);
  if (!torch::isfinite(all).all().item<bool>()) throw Error("a feature is no finite number");
  record.features = principal_components(all, FeatureRecord::kMostDimensions);
  return record;
}

models::NamedTensors FeatureRecord::save() const {
  models::NamedTensors tensors = {{"features", features},
                                  {"kinds", tensor_of(kinds)},
                                  {"pseudo_labels", tensor_of(pseudo_labels)},
                                  {"predicted", tensor_of(predicted)}};
  if (!labels.empty()) tensors["labels"] = tensor_of(labels);
  return tensors;
}

FeatureRecord FeatureRecord::load(const models::NamedTensors& tensors, const std::string& origin) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  const Reader reader(tensors, origin);
  FeatureRecord record;
  record.features = reader.features().contiguous();
  const int64_t count = record.features.size(0);
  record.kinds = reader.numbers("kinds", count, kTarget, kSourceCentre);
  if (tensors.contains("labels")) record.labels = reader.numbers("labels", count, -1, kAny);
  record.pseudo_labels = reader.numbers("pseudo_labels", count, -1, kAny);
  record.predicted = reader.numbers("predicted", count, -1, kAny);
  return record;
}

}  // namespace proca::state
