#pragma once

#include <torch/nn/module.h>

#include "proca/models/named_tensors.h"

namespace proca::training {

/// Parameters and buffers of a module by name; none for null.
models::NamedTensors module_state(const torch::nn::Module* module);
/// Copies what `module_state` returned. Throws `InputError` if names or shapes differ.
void load_module_state(torch::nn::Module* module, const models::NamedTensors& state);

}  // namespace proca::training
