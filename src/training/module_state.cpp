#include "training/module_state.h"

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::training {

models::NamedTensors module_state(const torch::nn::Module* module) {
  models::NamedTensors state;
  if (module == nullptr) return state;
  for (const auto& item : module->named_parameters()) state[item.key()] = item.value();
  for (const auto& item : module->named_buffers()) state[item.key()] = item.value();
  return state;
}

void load_module_state(torch::nn::Module* module, const models::NamedTensors& state) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : module_state(module)) {
    const auto saved = state.find(name);
    if (saved == state.end() || saved->second.sizes() != tensor.sizes()) {
      throw InputError(fmt::format("saved modules: {} is missing or has another shape", name));
    }
    torch::Tensor(tensor).copy_(saved->second);
  }
}

}  // namespace proca::training
