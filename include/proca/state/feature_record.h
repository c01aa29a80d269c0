#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/models/named_tensors.h"

namespace proca::state {

/// Points of a feature space with their labels.
struct FeaturePoints {
  torch::Tensor features = {};              ///< float [N, D] on the CPU; undefined for none
  std::vector<int64_t> labels = {};         ///< [N]: true labels, or -1; empty: all unknown
  std::vector<int64_t> pseudo_labels = {};  ///< [N]: or -1
  std::vector<int64_t> predicted = {};      ///< [N]: or -1
  std::vector<std::string> names = {};      ///< [N]: of prototypes, the names of the images

  int64_t size() const { return features.defined() ? features.size(0) : 0; }
};

/// The points that go into the record of a step. All features have the same size.
struct FeatureSets {
  FeaturePoints target;
  FeaturePoints prototypes;
  FeaturePoints centres;  ///< mean features of the source classes
};

/// A sample of the feature space after a step, small enough to keep: some points along
/// their principal components. `steps/NN/features.safetensors` of a state
/// (docs/formats/state_directory.md).
struct FeatureRecord {
  enum Kind : int64_t { kTarget = 0, kPrototype = 1, kSourceCentre = 2 };
  static constexpr int64_t kMostTarget = 400;      ///< points that are kept
  static constexpr int64_t kMostPrototypes = 200;  ///< but one of every class at least
  static constexpr int64_t kMostDimensions = 50;

  torch::Tensor features;              ///< float [N, d]: principal components, the largest first
  std::vector<int64_t> kinds;          ///< [N]: `Kind`
  std::vector<int64_t> labels;         ///< [N]: true labels, or -1; empty: all unknown
  std::vector<int64_t> pseudo_labels;  ///< [N]: or -1
  std::vector<int64_t> predicted;      ///< [N]: or -1

  models::NamedTensors save() const;
  /// Restores what `save` returned: throws `InputError` naming `origin` unless the
  /// shapes fit, kinds exist, labels are from -1 on, and features are finite numbers.
  static FeatureRecord load(const models::NamedTensors& tensors, const std::string& origin);
};

/// Concatenates the points in the order of `FeatureSets` and computes their principal
/// components. There must be at least one point.
FeatureRecord make_feature_record(const FeatureSets& sets);

/// The rows of `points`, float [N, D], along their principal components: float
/// [N, min(most, N, D)], centred, the component with the largest variance first. Its sign
/// is such that the entry of the largest size is positive, so equal points give equal
/// components.
torch::Tensor principal_components(const torch::Tensor& points, int64_t most);

/// At most `most` of the indexes below `count`, evenly spread, with index 0.
std::vector<int64_t> evenly_spread(int64_t count, int64_t most);

}  // namespace proca::state
