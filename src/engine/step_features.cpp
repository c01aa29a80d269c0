#include "engine/step_features.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/scope_timer.h"
#include "training/feeds/image_tensors.h"

namespace proca::engine {
namespace {

std::vector<int64_t> values_of(const torch::Tensor& tensor) {
  const auto values = tensor.to(torch::kCPU, torch::kInt64).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

state::FeaturePoints points_of(const methods::Predictions& predictions) {
  return {.features = predictions.features,
          .predicted = values_of(predictions.probabilities.argmax(1))};
}

// Of every class; the memory is not empty.
int64_t shown_of(const adaptation::PrototypeMemory& memory) {
  return std::clamp<int64_t>(state::FeatureRecord::kMostPrototypes / memory.num_classes(), 1,
                             memory.per_class());
}

}  // namespace

state::FeaturePoints target_points(const data::ImageStore& target,
                                   const methods::StepDecisions* decisions,
                                   const models::ClassifierNetwork& network,
                                   const data::Preprocessing& preprocessing,
                                   const InferenceOptions& options) {
  const auto chosen = state::evenly_spread(target.size(), state::FeatureRecord::kMostTarget);
  auto points = points_of(predict_pixels(
      network, training::pixels_of(target, chosen, preprocessing), preprocessing, options));
  if (decisions != nullptr) {
    points.pseudo_labels = values_of(
        decisions->pseudo_labels.labels.index_select(0, torch::tensor(chosen, torch::kInt64)));
  }
  return points;
}

std::vector<std::string> shown_prototypes(const adaptation::PrototypeMemory& memory) {
  std::vector<std::string> names;
  for (const auto& entry : memory.classes()) {
    names.insert(names.end(), entry.origins.begin(), entry.origins.begin() + shown_of(memory));
  }
  return names;
}

state::FeaturePoints prototype_points(const adaptation::PrototypeMemory& memory,
                                      const state::FeaturePoints& seen,
                                      const models::ClassifierNetwork& network,
                                      const data::Preprocessing& preprocessing,
                                      const InferenceOptions& options) {
  if (memory.num_classes() == 0) return {};
  state::FeaturePoints points{.names = shown_prototypes(memory)};
  std::unordered_map<std::string, int64_t> row_of;
  for (size_t i = 0; i < seen.names.size(); ++i) row_of[seen.names[i]] = static_cast<int64_t>(i);
  const int64_t per_class = shown_of(memory);
  std::vector<torch::Tensor> pixels;  // of the others
  std::vector<int64_t> rows;          // in `seen`, then among the others
  int64_t next_row = seen.size();
  for (const auto& entry : memory.classes()) {
    points.pseudo_labels.insert(points.pseudo_labels.end(), static_cast<size_t>(per_class),
                                entry.label);
    for (int64_t i = 0; i < per_class; ++i) {
      const auto found = row_of.find(entry.origins[static_cast<size_t>(i)]);
      rows.push_back(found != row_of.end() ? found->second : next_row++);
      if (found == row_of.end()) pixels.push_back(entry.pixels[i]);
    }
  }
  auto all = seen;
  if (!pixels.empty()) {
    const auto more =
        points_of(predict_pixels(network, torch::stack(pixels), preprocessing, options));
    all.features = seen.size() > 0 ? torch::cat({seen.features, more.features}) : more.features;
    all.predicted.insert(all.predicted.end(), more.predicted.begin(), more.predicted.end());
  }
  points.features = all.features.index_select(0, torch::tensor(rows, torch::kInt64));
  for (const int64_t row : rows) {
    points.predicted.push_back(all.predicted[static_cast<size_t>(row)]);
  }
  return points;
}

state::FeaturePoints centre_points(const torch::Tensor& centres,
                                   const models::ClassifierNetwork& network) {
  if (!centres.defined() || centres.size(1) != network->feature_size()) return {};
  if (!network->neck_layout().empty()) return {};
  state::FeaturePoints points{.features = centres.to(torch::kCPU, torch::kFloat32)};
  points.labels.resize(static_cast<size_t>(centres.size(0)));
  std::iota(points.labels.begin(), points.labels.end(), 0);
  points.pseudo_labels = points.labels;
  return points;
}

state::FeatureSets reference_points(const Adapter& adapter, StepInputs& inputs,
                                    const state::FeaturePoints& seen) {
  const ScopeTimer timer("features of prototypes");
  state::FeatureSets sets;
  if (const auto* memory = adapter.memory()) {
    sets.prototypes = prototype_points(*memory, seen, adapter.network(),
                                       adapter.manifest().model.preprocessing, inputs.inference());
  }
  sets.centres = centre_points(inputs.known_centres(), adapter.network());
  return sets;
}

}  // namespace proca::engine
