#pragma once

#include <cstdint>
#include <string_view>

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

namespace proca::models {

/// How a linear layer is initialised.
struct LinearStart {
  enum class Kind {
    kDefault,       ///< PyTorch's: weight and bias uniform in +-1/sqrt(input size)
    kNormal,        ///< weight normal with the deviation `std`, bias zero
    kXavierNormal,  ///< weight normal with deviation sqrt(2 / (input + output)), bias zero
  } kind = Kind::kDefault;
  double std = 0.01;
};

/// A linear layer whose initial weights are a pure function of the arguments. PyTorch would
/// draw them from a global generator.
torch::nn::Linear make_linear(int64_t input_size, int64_t output_size, const LinearStart& start,
                              uint64_t seed, std::string_view purpose);

/// Initialises an existing layer again, on its device.
void restart_linear(torch::nn::Linear& layer, const LinearStart& start, uint64_t seed,
                    std::string_view purpose);

}  // namespace proca::models
