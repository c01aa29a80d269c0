#include "models/nets/linear_layers.h"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>

#include "proca/core/random.h"

namespace proca::models {

torch::nn::Linear make_linear(int64_t input_size, int64_t output_size, const LinearStart& start,
                              uint64_t seed, std::string_view purpose) {
  // A layer without rows draws no weights from the global generator.
  torch::nn::Linear layer(input_size, 0);
  layer->options.out_features(output_size);
  layer->weight.set_data(torch::empty({output_size, input_size}));
  layer->bias.set_data(torch::empty({output_size}));
  restart_linear(layer, start, seed, purpose);
  return layer;
}

void restart_linear(torch::nn::Linear& layer, const LinearStart& start, uint64_t seed,
                    std::string_view purpose) {
  const torch::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(RandomStream(seed, purpose)());
  auto weight = torch::empty(layer->weight.sizes());
  auto bias = torch::zeros(layer->bias.sizes());
  const auto output_size = static_cast<double>(weight.size(0));
  const auto input_size = static_cast<double>(weight.size(1));
  switch (start.kind) {
    case LinearStart::Kind::kDefault: {
      const double bound = 1.0 / std::sqrt(input_size);
      weight.uniform_(-bound, bound, generator);
      bias.uniform_(-bound, bound, generator);
      break;
    }
    case LinearStart::Kind::kNormal:
      weight.normal_(0, start.std, generator);
      break;
    case LinearStart::Kind::kXavierNormal:
      weight.normal_(0, std::sqrt(2.0 / (input_size + output_size)), generator);
      break;
  }
  layer->weight.copy_(weight);
  layer->bias.copy_(bias);
}

}  // namespace proca::models
