#pragma once

#include "proca/data/image_store.h"
#include "proca/engine/inference.h"
#include "proca/methods/method.h"
#include "proca/state/feature_record.h"

namespace proca::engine {

// The points of a step's `features.safetensors`, each from a look by the current network.

/// Some of the step's images, with their pseudo-labels if there are any.
state::FeaturePoints target_points(const data::ImageStore& target,
                                   const methods::StepDecisions* decisions,
                                   const models::ClassifierNetwork& network,
                                   const data::Preprocessing& preprocessing,
                                   const InferenceOptions& options);

/// What the prototypes that a record shows were called: the first ones of every class.
std::vector<std::string> shown_prototypes(const adaptation::PrototypeMemory& memory);

/// Those prototypes; their class is their pseudo-label. What `seen` says of images by name
/// is taken as it is; the others are looked at.
state::FeaturePoints prototype_points(const adaptation::PrototypeMemory& memory,
                                      const state::FeaturePoints& seen,
                                      const models::ClassifierNetwork& network,
                                      const data::Preprocessing& preprocessing,
                                      const InferenceOptions& options);

/// Centres of source classes, float [K, D], in case they live in the network's feature
/// space: not if they are undefined, nor behind layers that the source model has not.
state::FeaturePoints centre_points(const torch::Tensor& centres,
                                   const models::ClassifierNetwork& network);

}  // namespace proca::engine
