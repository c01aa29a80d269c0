#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "adaptation/herding.h"
#include "adaptation/schedule.h"
#include "proca/adaptation/pseudo_labels.h"
#include "proca/adaptation/shared_classes.h"
#include "proca/config/options.h"
#include "proca/losses/prototype_contrastive.h"
#include "proca/methods/method.h"

namespace proca::methods {

/// ProCA as described in the paper, or as implemented by its authors. Where the two differ,
/// the options below are empty and follow the variant.
///
/// | option | paper | authors-code |
/// |---|---|---|
/// | pseudo-label-model | current, after the first time | source |
/// | centroid-space | raw | unit |
/// | centre-model | current, after the first time | source |
/// | contrast-margin | 0 | 0.3 |
/// | contrast-negatives | 0 (all) | 10 |
/// | herding-features | raw | unit |
/// | herding-repeats | if-needed | allowed |
/// | memory-score | highest | first |
enum class Variant { kPaper, kAuthorsCode };

/// The stored score of a class whose prototypes are replaced.
enum class MemoryScore {
  kFirst,    ///< stays that of the first capture
  kHighest,  ///< becomes the new one, which is at least as high
};

/// Where the source centres of the contrastive loss come from.
enum class Centres {
  kByModel,    ///< by `centre-model` and `centres-every`
  kAtCapture,  ///< the current network's, computed at each capture: for networks whose
               ///< features are not those of the source model
  kNever,      ///< there are none, and no contrastive loss
};

/// Everything about detection, pseudo-labels, prototypes and the two losses on
/// them; shared by ProCA and by methods that use its prototypes.
struct PrototypeOptions {
  Variant variant = Variant::kPaper;

  adaptation::DetectionOptions detection;
  ModelChoice detection_model = ModelChoice::kSource;

  std::optional<ModelChoice> pseudo_label_model;
  int64_t pseudo_labels_every = 4;  ///< epochs
  std::optional<adaptation::CentroidSpace> centroid_space;

  int64_t prototypes = 10;  ///< per class: M
  int64_t memory_budget = 0;
  adaptation::CaptureSchedule capture;
  std::optional<adaptation::HerdingOptions::Features> herding_features;
  std::optional<adaptation::HerdingOptions::Repeats> herding_repeats;
  std::optional<MemoryScore> memory_score;

  std::optional<ModelChoice> centre_model;
  int64_t centres_every = 5;  ///< epochs
  /// Not an option: set before `bind` by the method that uses the prototypes.
  Centres centres = Centres::kByModel;

  double lambda = 0.1;  ///< weight of the contrastive loss
  double eta = 1.0;     ///< weight of the distillation loss
  double contrast_temperature = 0.07;
  std::optional<double> contrast_margin;
  std::optional<int64_t> contrast_negatives;  ///< 0: all other classes
  losses::Similarity contrast_similarity = losses::Similarity::kCosine;

  void bind(OptionSet& options);

  // The fields that follow the variant, resolved.
  ModelChoice resolved_pseudo_label_model() const;
  adaptation::CentroidSpace resolved_centroid_space() const;
  adaptation::HerdingOptions resolved_herding() const;
  MemoryScore resolved_memory_score() const;
  ModelChoice resolved_centre_model() const;
  losses::PrototypeContrastiveOptions resolved_contrast() const;
  int64_t resolved_negatives() const;
};

/// Declares the options of the detection rule `cluster-mass`; `after_each` is called after each.
void bind_cluster_mass(
    adaptation::DetectionOptions& detection, OptionSet& options,
    const std::function<void()>& after_each = [] {});

}  // namespace proca::methods
