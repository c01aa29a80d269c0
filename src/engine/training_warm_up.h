#pragma once

#include <filesystem>
#include <thread>

#include <torch/types.h>

#include "proca/engine/device.h"
#include "proca/engine/state_directory.h"
#include "proca/methods/method.h"

namespace proca::engine {

/// The first iteration on a GPU takes many times as long as the others: its libraries find
/// out how to do every layer with so many images, and load what they need for it. This
/// has them do so on another thread, with a network of its own, while images are decoded
/// and frozen models asked. Nothing on a CPU, nor on a GPU with little memory left.
class TrainingWarmUp {
 public:
  /// An iteration of such an epoch. `folder` is where a script backbone lies.
  TrainingWarmUp(const ModelDescription& model, const std::filesystem::path& folder,
                 const methods::EpochPlan& plan, int64_t batch_size, const ComputeOptions& compute,
                 torch::Device device);

 private:
  std::jthread thread_;
};

}  // namespace proca::engine
