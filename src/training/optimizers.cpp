#include "training/optimizers.h"

#include <algorithm>
#include <cmath>

namespace proca::training {

void Optimizers::reset() {
  sgd.reset();
  for (auto& [name, adam] : own) adam.reset();
}

models::NamedTensors Optimizers::state() const {
  auto state = sgd.state();
  for (const auto& [name, adam] : own) models::put_part(state, name + ".", adam.state());
  return state;
}

void Optimizers::load_state(const models::NamedTensors& state) {
  auto rest = state;
  for (auto& [name, adam] : own) {
    const auto prefix = name + ".";
    adam.load_state(models::part_of(state, prefix));
    std::erase_if(rest, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  }
  sgd.load_state(rest);
}

Optimizers make_optimizers(const models::ClassifierNetwork& network, methods::Method& method,
                           const methods::TrainingRecipe& recipe) {
  // Layers of the source model, and those that the method added.
  ParameterGroup source{network->backbone_parameters(), recipe.lr, recipe.weight_decay};
  ParameterGroup added{network->neck_parameters(), recipe.lr * recipe.added_lr_factor,
                       recipe.weight_decay};
  const auto append = [](ParameterGroup& group, const std::vector<torch::Tensor>& parameters) {
    group.parameters.insert(group.parameters.end(), parameters.begin(), parameters.end());
  };
  // After a neck the classifier is a new one.
  append(added.parameters.empty() ? source : added, network->head_parameters());
  if (const auto extra = method.auxiliary_modules()) append(added, extra->parameters());
  Optimizers optimizers{Sgd({source, added}, recipe.momentum, recipe.momentum_kind), {}};
  for (auto& [name, parameters, lr] : method.optimizers()) {
    optimizers.own.emplace(name, Adam(parameters, lr));
  }
  return optimizers;
}

double lr_scale(const methods::TrainingRecipe& recipe, double clock) {
  if (recipe.decay == 0) return 1;
  return std::pow(1 + recipe.decay * std::min(clock, recipe.decay_until), -recipe.decay_power);
}

}  // namespace proca::training
