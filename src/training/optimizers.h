#pragma once

#include <map>
#include <string>

#include "proca/methods/method.h"
#include "training/adam.h"
#include "training/sgd.h"

namespace proca::training {

/// All that updates weights.
struct Optimizers {
  Sgd sgd;                          ///< the recipe's
  std::map<std::string, Adam> own;  ///< the method's, by name

  /// As new, for another step. The tensors stay the same, so that captured graphs do.
  void reset();
  models::NamedTensors state() const;
  /// Copies what `state` returned. Throws `InputError` if names or shapes differ.
  void load_state(const models::NamedTensors& state);
};

/// The recipe's SGD over the network and the method's modules, and the method's own.
Optimizers make_optimizers(const models::ClassifierNetwork& network, methods::Method& method,
                           const methods::TrainingRecipe& recipe);

/// The learning rate at a time, relative to that of the recipe.
double lr_scale(const methods::TrainingRecipe& recipe, double clock);

}  // namespace proca::training
