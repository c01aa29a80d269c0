#pragma once

#include <map>
#include <string>

#include <torch/types.h>

namespace proca::methods {

/// State as methods save it.
using NamedTensors = std::map<std::string, torch::Tensor>;

/// Adds the tensors of `part` under `prefix` + their names.
void put_part(NamedTensors& whole, const std::string& prefix, const NamedTensors& part);
/// The tensors whose names begin with `prefix`, without it.
NamedTensors part_of(const NamedTensors& whole, const std::string& prefix);

}  // namespace proca::methods
