#pragma once

#include <cstdint>
#include <string>

#include "models/nets/linear_layers.h"
#include "proca/config/options.h"
#include "proca/models/classifier_network.h"

namespace proca::methods {

/// The layer of a few hundred features that adversarial methods put between backbone
/// and classifier, and align.
struct Bottleneck {
  /// Features; 0 for no bottleneck, as the originals do where the source model is
  /// ImageNet's: its classifier is kept then.
  int64_t size = 256;

  void bind(OptionSet& options);

  /// The layers that a method inserts.
  struct Layers {
    std::string behind_linear = {};  ///< ", batch-norm, relu"; nothing for a linear layer alone
    models::LinearStart neck = {}, head = {};
  };
  /// Inserts the bottleneck and a new classifier into a network that has no neck. One with
  /// a neck comes from the previous step, and stays as it is.
  void prepare(models::ClassifierNetwork& network, const Layers& layers, uint64_t seed) const;
};

}  // namespace proca::methods
