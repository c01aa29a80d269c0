#pragma once

#include <optional>
#include <string>

#include "proca/models/named_tensors.h"

namespace proca::models {

/// The name of a tensor with a NaN or infinite element; nothing if all are finite. Integers
/// always are. Synchronises with a GPU once for all tensors.
std::optional<std::string> find_not_finite(const NamedTensors& tensors);

/// Throws `InputError`, beginning with `origin`, for weights that no network can have: a NaN or
/// infinite element, a negative `running_var`. Whatever weights come from outside go through it.
void check_weights(const NamedTensors& weights, const std::string& origin);

}  // namespace proca::models
