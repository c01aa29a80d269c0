#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <torch/nn/module.h>
#include <torch/types.h>

#include "proca/core/options.h"
#include "proca/models/classifier_network.h"

namespace proca::methods {

/// What a method sees of one iteration. There is no field for target labels, so
/// no method can train on them by mistake.
struct AdaptationBatch {
  torch::Tensor source_images;  ///< float [Ns, 3, H, W]
  torch::Tensor source_labels;  ///< int64 [Ns]
  torch::Tensor target_images;  ///< float [Nt, 3, H, W]
  torch::Tensor target_ids;     ///< int64 [Nt], index in the current target set
};

/// One named, weighted part of the objective. The engine minimises the weighted
/// sum and logs every term under its name.
struct LossTerm {
  std::string_view name;
  torch::Tensor value;  ///< scalar
  double weight = 1.0;
};

/// Network outputs over a whole data set, in data-set order, without gradients,
/// on the network's device.
struct Predictions {
  torch::Tensor probabilities;  ///< float [N, K]
  torch::Tensor features;       ///< float [N, D]
};

/// What the engine lends a method for the length of one hook call.
struct StepContext {
  int64_t step = 0;       ///< 0-based time step of the protocol
  int64_t epoch = 0;      ///< 0-based within the step
  int64_t iteration = 0;  ///< 0-based within the step
  double progress = 0;    ///< fraction of the step's iterations done, in [0, 1]
  /// Runs the current network in evaluation mode over the step's target images.
  /// Costs a full pass; under distributed training every rank gets all rows.
  std::function<Predictions()> predict_target;
};

/// A domain-adaptation method: turns batches into losses and keeps whatever
/// memory that needs. The engine owns everything else: data loading, the
/// optimiser, precision, gradient exchange, logging and checkpoints.
///
/// For every time step the engine calls `begin_step` once; then, per iteration,
/// `before_iteration` and `compute_losses`; then `end_step` once.
class Method {
 public:
  virtual ~Method() = default;

  /// Extra trainable modules (discriminators, ...); null if there are none.
  virtual std::shared_ptr<torch::nn::Module> auxiliary_modules() { return nullptr; }

  virtual void begin_step(const StepContext&) {}
  virtual void before_iteration(const StepContext&) {}
  /// The terms of this iteration's objective. None at all means that this
  /// method has nothing to train, and the engine leaves the network alone.
  virtual std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                               const StepContext& context) = 0;
  virtual void end_step(const StepContext&) {}

  /// State beyond module parameters (memory banks, class weights, ...) by name;
  /// `load` gets back what `save` gave, whatever process it is in.
  virtual std::map<std::string, torch::Tensor> save() const { return {}; }
  virtual void load(const std::map<std::string, torch::Tensor>&) {}
};

/// Builds a method for a network that is already on its device.
using MethodFactory = std::function<std::unique_ptr<Method>(models::ClassifierNetwork)>;

/// How the registry knows a method. Each `src/methods/<name>.cpp` defines one
/// `MethodSpec <name>_spec()`; the build lists them in a generated table, so
/// that adding a method is one file and one word in `src/methods/CMakeLists.txt`.
struct MethodSpec {
  std::string_view name;
  std::string_view summary;  ///< one line for `proca methods`
  /// Binds the method's options (flag, TOML key, help, range, default) and
  /// returns what builds the method from the parsed values.
  std::function<MethodFactory(OptionSet&)> configure;
};

/// Every method, in the order of `src/methods/CMakeLists.txt`.
const std::vector<MethodSpec>& all_methods();

/// Throws `InvalidOption` for an unknown name, with the nearest known one.
const MethodSpec& find_method(std::string_view name);

}  // namespace proca::methods
