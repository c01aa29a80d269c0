#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>

#include <torch/types.h>

#include "proca/compute/device.h"
#include "proca/methods/method.h"

namespace proca::training {

/// What a warm-up trains: a network and a method of its own.
struct WarmUpSetup {
  std::function<models::ClassifierNetwork()> build_network;  ///< untrained will do
  methods::MethodFactory build_method;
  methods::TrainingRecipe recipe;
  int64_t image_size = 224;
  int64_t step = 0;  ///< from 0
  compute::ComputeOptions compute = {};
};

/// Trains the first iteration of a step on black images, replayed prototypes included: the
/// method gets the calls of a step, with made-up answers of the engine. Returns the value of
/// each loss term. Throws what the method throws.
std::map<std::string, double> warm_up_iteration(const WarmUpSetup& setup, torch::Device device);

/// The first iteration on a GPU takes much longer than the others: cuDNN selects an algorithm
/// per layer and batch size, and kernels are loaded. This runs one on another thread while
/// files are read, images decoded and the source model evaluated. Nothing on a CPU, nor on a
/// GPU with little free memory.
class TrainingWarmUp {
 public:
  explicit TrainingWarmUp(WarmUpSetup setup);
  /// Waits for its end, as the destructor does. Before training: dropout of both would use the
  /// same random generator.
  void wait();

 private:
  std::jthread thread_;
};

}  // namespace proca::training
