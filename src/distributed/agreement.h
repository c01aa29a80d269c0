#pragma once

#include <string>

#include "proca/compute/ranks.h"
#include "proca/models/named_tensors.h"

namespace proca::distributed {

/// Throws `Error` unless all ranks have the very same tensors. Every rank decides for itself,
/// of the same numbers, so they are, unless machines of different kinds round differently: then it
/// is better to stop than to train different models that nobody would notice. Nothing without
/// ranks.
void check_agreement(compute::Ranks* ranks, const std::string& what,
                     const models::NamedTensors& tensors);

}  // namespace proca::distributed
