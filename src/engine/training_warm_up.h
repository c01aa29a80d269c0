#pragma once

#include <filesystem>
#include <thread>

#include <torch/types.h>

#include "proca/compute/device.h"
#include "proca/methods/method.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

/// The first iteration on a GPU takes many times as long as the others: its libraries find
/// out how to do every layer with so many images, and load what they need for it. This
/// has them do so on another thread, with a network of its own, while files are read, images
/// decoded and the source model asked. Nobody waits for it: whoever needs the same of a
/// library waits there. Nothing on a CPU, nor on a GPU with little memory left.
class TrainingWarmUp {
 public:
  /// An iteration of the method's first epoch of step `step` (from 0). `folder` is where a
  /// script backbone lies.
  TrainingWarmUp(state::ModelDescription model, std::filesystem::path folder,
                 methods::MethodFactory build_method, methods::TrainingRecipe recipe, int64_t step,
                 compute::ComputeOptions compute);

 private:
  std::jthread thread_;
};

}  // namespace proca::engine
