#pragma once

#include <string>

#include "proca/compute/ranks.h"
#include "proca/models/named_tensors.h"

namespace proca::distributed {

/// Throws `Error` unless all ranks have the same tensors. Every rank makes its own decisions
/// from the same numbers, so they agree unless different hardware rounds differently: then
/// stopping is better than training different models unnoticed. Does nothing without
/// ranks.
void check_agreement(compute::Ranks* ranks, const std::string& what,
                     const models::NamedTensors& tensors);

}  // namespace proca::distributed
