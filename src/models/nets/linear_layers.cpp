#include "models/nets/linear_layers.h"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>

#include "proca/core/random.h"

namespace proca::models {
namespace {

struct Tensors {
  torch::Tensor weight, bias;
};

Tensors draw(int64_t input_size, int64_t output_size, const LinearStart& start, uint64_t seed,
             std::string_view purpose) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(RandomStream(seed, purpose)());
  auto weight = torch::empty({output_size, input_size});
  auto bias = torch::zeros({output_size});
  switch (start.kind) {
    case LinearStart::Kind::kDefault: {
      const double bound = 1.0 / std::sqrt(static_cast<double>(input_size));
      weight.uniform_(-bound, bound, generator);
      bias.uniform_(-bound, bound, generator);
      break;
    }
    case LinearStart::Kind::kNormal:
      weight.normal_(0, start.std, generator);
      break;
    case LinearStart::Kind::kXavierNormal:
      weight.normal_(0, std::sqrt(2.0 / static_cast<double>(input_size + output_size)), generator);
      break;
  }
  return {weight, bias};
}

}  // namespace

torch::nn::Linear make_linear(int64_t input_size, int64_t output_size, const LinearStart& start,
                              uint64_t seed, std::string_view purpose) {
  // One without rows draws nothing; it then gets the tensors it should have had.
  torch::nn::Linear layer(input_size, 0);
  const auto tensors = draw(input_size, output_size, start, seed, purpose);
  layer->options.out_features(output_size);
  layer->weight.set_data(tensors.weight);
  layer->bias.set_data(tensors.bias);
  return layer;
}

void restart_linear(torch::nn::Linear& layer, const LinearStart& start, uint64_t seed,
                    std::string_view purpose) {
  const torch::NoGradGuard no_grad;
  const auto tensors = draw(layer->weight.size(1), layer->weight.size(0), start, seed, purpose);
  layer->weight.copy_(tensors.weight);
  layer->bias.copy_(tensors.bias);
}

}  // namespace proca::models
