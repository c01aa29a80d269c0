#pragma once

#include <string>
#include <vector>

#include "proca/data/image_store.h"
#include "proca/methods/method.h"

namespace proca::state {

// The records of a step, complete enough to check each decision by hand. The
// formats are described in docs/formats/state_directory.md.

std::string detection_json(const methods::StepDecisions& decisions,
                           const std::vector<std::string>& class_names);
std::string pseudo_labels_csv(const methods::StepDecisions& decisions,
                              const data::ImageStore& target,
                              const std::vector<std::string>& class_names);
/// The verdict on a step; `trained` tells whether the network was trained on it.
std::string health_json(const adaptation::StepHealth& health, bool trained);
/// What was predicted for each image of a labelled store; `predictions` are labels, in its order.
std::string predictions_csv(const std::vector<int64_t>& predictions,
                            const data::ImageStore& labelled);
/// The prototypes captured in `step` (from 0), and the size of the whole memory.
std::string prototypes_json(const adaptation::PrototypeMemory& memory, int64_t step,
                            const std::vector<std::string>& class_names);

/// Adds the classes that images were labelled with, in order. A class that was detected but
/// got no image has not been adapted to.
void add_labelled_classes(const methods::StepDecisions& decisions, std::vector<int64_t>& classes);

}  // namespace proca::state
