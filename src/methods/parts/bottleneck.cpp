#include "methods/parts/bottleneck.h"

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::methods {

void Bottleneck::bind(OptionSet& options) {
  options.bind("bottleneck", size,
               "features between backbone and classifier; 0 keeps the source model's classifier", 0,
               1 << 20);
}

void Bottleneck::prepare(models::ClassifierNetwork& network, const Layers& layers,
                         uint64_t seed) const {
  const auto layout = size == 0 ? "" : fmt::format("linear {}{}", size, layers.behind_linear);
  if (!network->neck().is_empty() && network->neck_layout() != layout) {
    throw InvalidOption(fmt::format("--bottleneck: {} here, but the steps before had \"{}\"", size,
                                    network->neck_layout()));
  }
  if (size == 0 || !network->neck().is_empty()) return;
  network->insert_neck(layout, seed);
  torch::nn::Linear linear(
      std::dynamic_pointer_cast<torch::nn::LinearImpl>(network->neck()->named_children()["0"]));
  models::restart_linear(linear, layers.neck, seed, "neck 0");
  auto head = network->head();
  models::restart_linear(head, layers.head, seed, "head");
}

}  // namespace proca::methods
