#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/models/named_tensors.h"

namespace proca::state {

/// Some points of a feature space, and what is known of each.
struct FeaturePoints {
  torch::Tensor features = {};              ///< float [N, D] on the CPU; undefined for none
  std::vector<int64_t> labels = {};         ///< [N]: true ones, or -1; empty: nobody knows any
  std::vector<int64_t> pseudo_labels = {};  ///< [N]: or -1
  std::vector<int64_t> predicted = {};      ///< [N]: or -1
  std::vector<std::string> names = {};      ///< [N]: of prototypes, what the image was called

  int64_t size() const { return features.defined() ? features.size(0) : 0; }
};

/// What the record of a step is made of. All are features of the same size.
struct FeatureSets {
  FeaturePoints target;
  FeaturePoints prototypes;
  FeaturePoints centres;  ///< mean features of the source classes
};

/// A look into the feature space after a step, small enough to keep: some points in as
/// many dimensions as matter. `steps/NN/features.safetensors` of a state
/// (docs/formats/state_directory.md).
struct FeatureRecord {
  enum Kind : int64_t { kTarget = 0, kPrototype = 1, kSourceCentre = 2 };
  static constexpr int64_t kMostTarget = 400;      ///< points that are kept
  static constexpr int64_t kMostPrototypes = 200;  ///< but one of every class at least
  static constexpr int64_t kMostDimensions = 50;

  torch::Tensor features;              ///< float [N, d]: principal components, the largest first
  std::vector<int64_t> kinds;          ///< [N]: `Kind`
  std::vector<int64_t> labels;         ///< [N]: true ones, or -1; empty: nobody knows any
  std::vector<int64_t> pseudo_labels;  ///< [N]: or -1
  std::vector<int64_t> predicted;      ///< [N]: or -1

  models::NamedTensors save() const;
  /// What `save` gave, from a file: throws `InputError` naming `origin` unless the
  /// shapes fit, kinds exist, labels are from -1 on, and features are finite numbers.
  static FeatureRecord load(const models::NamedTensors& tensors, const std::string& origin);
};

/// Puts the points together, in the order of `FeatureSets`, and finds the principal
/// components of all. There must be a point.
FeatureRecord make_feature_record(const FeatureSets& sets);

/// The rows of `points`, float [N, D], along their principal components: float
/// [N, min(most, N, D)], centred, the component with the largest variance first. Its sign
/// is such that the entry of the largest size is positive, so equal points give equal
/// components.
torch::Tensor principal_components(const torch::Tensor& points, int64_t most);

/// Indexes of at most `most` of `count` things, the first among them, evenly spread.
std::vector<int64_t> evenly_spread(int64_t count, int64_t most);

}  // namespace proca::state
