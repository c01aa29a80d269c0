#pragma once

#include <optional>
#include <string>

#include "proca/models/named_tensors.h"

namespace proca::training {

/// The name of a tensor with a NaN or infinite element; nothing if all are finite. Integers
/// always are. Synchronises with a GPU once for all tensors.
std::optional<std::string> find_not_finite(const models::NamedTensors& tensors);

}  // namespace proca::training
