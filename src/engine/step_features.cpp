#include "step_features.h"

#include <algorithm>
#include <numeric>

#include "proca/engine/image_tensors.h"

namespace proca::engine {
namespace {

std::vector<int64_t> values_of(const torch::Tensor& tensor) {
  const auto values = tensor.to(torch::kCPU, torch::kInt64).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

FeaturePoints points_of(const methods::Predictions& predictions) {
  return {.features = predictions.features,
          .predicted = values_of(predictions.probabilities.argmax(1))};
}

}  // namespace

FeaturePoints target_points(const data::ImageStore& target, const methods::StepDecisions* decisions,
                            const models::ClassifierNetwork& network,
                            const data::Preprocessing& preprocessing,
                            const InferenceOptions& options) {
  const auto chosen = evenly_spread(target.size(), FeatureRecord::kMostTarget);
  auto points = points_of(
      predict_pixels(network, pixels_of(target, chosen, preprocessing), preprocessing, options));
  if (decisions != nullptr) {
    points.pseudo_labels = values_of(
        decisions->pseudo_labels.labels.index_select(0, torch::tensor(chosen, torch::kInt64)));
  }
  return points;
}

FeaturePoints prototype_points(const adaptation::PrototypeMemory& memory,
                               const models::ClassifierNetwork& network,
                               const data::Preprocessing& preprocessing,
                               const InferenceOptions& options) {
  if (memory.num_classes() == 0) return {};
  const int64_t per_class = std::clamp<int64_t>(
      FeatureRecord::kMostPrototypes / memory.num_classes(), 1, memory.per_class());
  std::vector<torch::Tensor> pixels;
  std::vector<int64_t> labels;
  std::vector<std::string> names;
  for (const auto& entry : memory.classes()) {
    pixels.push_back(entry.pixels.narrow(0, 0, per_class));
    labels.insert(labels.end(), static_cast<size_t>(per_class), entry.label);
    names.insert(names.end(), entry.origins.begin(), entry.origins.begin() + per_class);
  }
  auto points = points_of(predict_pixels(network, torch::cat(pixels), preprocessing, options));
  points.pseudo_labels = std::move(labels);
  points.names = std::move(names);
  return points;
}

FeaturePoints centre_points(const torch::Tensor& centres,
                            const models::ClassifierNetwork& network) {
  if (!centres.defined() || centres.size(1) != network->feature_size()) return {};
  if (!network->neck_layout().empty()) return {};
  FeaturePoints points{.features = centres.to(torch::kCPU, torch::kFloat32)};
  points.labels.resize(static_cast<size_t>(centres.size(0)));
  std::iota(points.labels.begin(), points.labels.end(), 0);
  points.pseudo_labels = points.labels;
  return points;
}

}  // namespace proca::engine
