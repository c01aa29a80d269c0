#include "proca/state/feature_record.h"

#include <algorithm>
#include <limits>

#include "models/weights/saved_tensors.h"
#include "proca/core/error.h"

namespace proca::state {
namespace {

using Labels = std::vector<int64_t>;

torch::Tensor tensor_of(const Labels& values) { return torch::tensor(values, torch::kInt64); }

// Labels that are not known are -1.
void append(Labels& all, const Labels& more, int64_t count) {
  TORCH_CHECK(more.empty() || static_cast<int64_t>(more.size()) == count, "labels of some points");
  if (more.empty()) {
    all.insert(all.end(), static_cast<size_t>(count), -1);
  } else {
    all.insert(all.end(), more.begin(), more.end());
  }
}

Labels read_labels(const models::SavedTensors& saved, const std::string& name, int64_t count,
                   int64_t low, int64_t high = std::numeric_limits<int64_t>::max()) {
  const auto tensor = saved.read_integers(name, {count}, low, high);
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + count};
}

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
  if (!torch::isfinite(all).all().item<bool>()) throw Error("a feature is not a finite number");
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
  const models::SavedTensors saved(tensors, origin + ": is damaged");
  FeatureRecord record;
  record.features = saved.read("features", torch::kFloat32, {-1, -1});
  const int64_t count = record.features.size(0);
  record.kinds = read_labels(saved, "kinds", count, kTarget, kSourceCentre);
  if (tensors.contains("labels")) record.labels = read_labels(saved, "labels", count, -1);
  record.pseudo_labels = read_labels(saved, "pseudo_labels", count, -1);
  record.predicted = read_labels(saved, "predicted", count, -1);
  return record;
}

}  // namespace proca::state
