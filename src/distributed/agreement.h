#pragma once

#include <string>

#include "proca/compute/ranks.h"
#include "proca/config/options.h"
#include "proca/models/named_tensors.h"

namespace proca::distributed {

/// Throws `Error` unless all ranks have the same tensors. Every rank makes its own decisions
/// from the same numbers, so they agree unless different hardware rounds differently: then
/// stopping is better than training different models unnoticed. Does nothing without
/// ranks.
void check_agreement(compute::Ranks* ranks, const std::string& what,
                     const models::NamedTensors& tensors);

/// Throws `InputError` naming the first option that this rank was given with another value than
/// rank 0, and on the other ranks one that says so: they would wait for each other in different
/// places. Options that do not decide the result, and paths, may differ. Does nothing without
/// ranks.
void check_same_options(compute::Ranks* ranks, const OptionSet& options);

}  // namespace proca::distributed
