#pragma once

#include <map>
#include <string>

#include <torch/types.h>

namespace proca::models {

/// State that is saved and restored by name.
using NamedTensors = std::map<std::string, torch::Tensor>;

/// Adds the tensors of `part` under `prefix` + their names.
void put_part(NamedTensors& whole, const std::string& prefix, const NamedTensors& part);
/// The tensors whose names begin with `prefix`, without it.
NamedTensors part_of(const NamedTensors& whole, const std::string& prefix);

}  // namespace proca::models
