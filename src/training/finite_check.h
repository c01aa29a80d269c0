#pragma once

#include <optional>
#include <string>

#include "proca/models/named_tensors.h"

namespace proca::training {

/// The name of a tensor with an element that is no number or infinite; nothing if all of them
/// are finite. Whole numbers always are. A GPU is asked once for all.
std::optional<std::string> find_not_finite(const models::NamedTensors& tensors);

}  // namespace proca::training
