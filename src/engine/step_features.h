#pragma once

#include "engine/step_inputs.h"
#include "proca/data/image_store.h"
#include "proca/engine/adapter.h"
#include "proca/engine/inference.h"
#include "proca/methods/method.h"
#include "proca/state/feature_record.h"

namespace proca::engine {

// The points of a step's `features.safetensors`: outputs of the current network.

/// Some of the step's images, with their pseudo-labels if there are any.
state::FeaturePoints target_points(const data::ImageStore& target,
                                   const methods::StepDecisions* decisions,
                                   const models::ClassifierNetwork& network,
                                   const data::Preprocessing& preprocessing,
                                   const InferenceOptions& options);

/// The names of the prototypes that a record shows: the first ones of every class.
std::vector<std::string> shown_prototypes(const adaptation::PrototypeMemory& memory);

/// Those prototypes, with their class as pseudo-label. Those whose names are among `seen`
/// take features and predicted class from there; the others are passed through the network.
state::FeaturePoints prototype_points(const adaptation::PrototypeMemory& memory,
                                      const state::FeaturePoints& seen,
                                      const models::ClassifierNetwork& network,
                                      const data::Preprocessing& preprocessing,
                                      const InferenceOptions& options);

/// The source model's class centres, float [K, D]. None if `centres` is undefined, or if the
/// network has layers that the source model has not, and so another feature space.
state::FeaturePoints centre_points(const torch::Tensor& centres,
                                   const models::ClassifierNetwork& network);

/// The points beside the target images: prototypes and centres.
state::FeatureSets reference_points(const Adapter& adapter, StepInputs& inputs,
                                    const state::FeaturePoints& seen = {});

}  // namespace proca::engine
