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

#include "proca/adaptation/prototype_memory.h"
#include "proca/adaptation/pseudo_labels.h"
#include "proca/adaptation/shared_classes.h"
#include "proca/core/options.h"
#include "proca/models/classifier_network.h"

namespace proca::methods {

/// What a method sees of one iteration. There is no field for target labels, so
/// no method can train on them by mistake.
struct AdaptationBatch {
  torch::Tensor source_images;  ///< float [Ns, 3, H, W]
  torch::Tensor source_labels;  ///< int64 [Ns]
  torch::Tensor target_images;  ///< float [Nt, 3, H, W]
  torch::Tensor target_ids;     ///< int64 [Nt], index in the current target set; on the CPU
};

/// One named, weighted part of the objective. The engine minimises the weighted
/// sum and logs every term under its name.
struct LossTerm {
  std::string_view name;
  torch::Tensor value;  ///< scalar
  double weight = 1.0;
};

/// Network outputs over a whole data set, in data-set order, without gradients,
/// on the CPU.
struct Predictions {
  torch::Tensor probabilities;  ///< float [N, K]
  torch::Tensor features;       ///< float [N, D]
};

/// Whose opinion is asked.
enum class ModelChoice {
  kSource,   ///< the source model, frozen: always the same answer, computed once and kept
  kCurrent,  ///< the network as it is now; every call costs a pass over the images
};

/// What the engine lends a method for the length of one hook call.
struct StepContext {
  int64_t step = 0;            ///< 0-based time step
  int64_t epoch = 0;           ///< 0-based within the step
  int64_t num_epochs = 1;      ///< of the step
  int64_t iteration = 0;       ///< 0-based within the epoch
  int64_t num_iterations = 1;  ///< of the epoch
  int64_t batch_size = 32;     ///< images of one kind per iteration; the last may have fewer
  double progress = 0;         ///< fraction of the step's iterations done, in [0, 1]
  uint64_t seed = 0;           ///< of every random choice; make streams of it, with step and epoch

  /// A model in evaluation mode over the step's target images.
  std::function<Predictions(ModelChoice)> predict_target = {};
  /// The mean feature of each class of source images, float [K, D], on the
  /// network's device.
  std::function<torch::Tensor(ModelChoice)> source_centres = {};
  /// Share of each class among the source images, float [K].
  torch::Tensor source_prior = {};
  /// Pixels of target images as the network sees them, uint8 [n, H, W, 3].
  std::function<torch::Tensor(const std::vector<int64_t>& ids)> target_pixels = {};
  /// What a target image is called.
  std::function<std::string(int64_t id)> target_name = {};
  /// Pixels, uint8 [n, H, W, 3], as network input on its device.
  std::function<torch::Tensor(const torch::Tensor& pixels)> to_input = {};
};

/// What a method found out about a step, for people to check. The engine writes it
/// to the step's folder in the state directory.
struct StepDecisions {
  adaptation::DetectionOptions detection;
  torch::Tensor source_prior;  ///< float [K], what detection knew of the source
  adaptation::SharedClasses shared_classes;
  adaptation::PseudoLabels pseudo_labels;  ///< by target image
};

/// A domain-adaptation method: turns batches into losses and keeps whatever
/// memory that needs. The engine owns everything else: data loading, the
/// optimiser, precision, gradient exchange, logging and checkpoints.
///
/// For every time step the engine calls
///
///     begin_step
///       begin_epoch
///         compute_losses     once per iteration
///       end_epoch
///     end_step
///
/// A checkpoint may be taken between any two calls. A method that comes back from
/// one gets `load` instead of the calls that were made before it.
class Method {
 public:
  virtual ~Method() = default;

  /// Extra trainable modules (discriminators, ...); null if there are none.
  virtual std::shared_ptr<torch::nn::Module> auxiliary_modules() { return nullptr; }

  virtual void begin_step(const StepContext&) {}
  virtual void begin_epoch(const StepContext&) {}
  /// The terms of this iteration's objective. None at all means that this
  /// method has nothing to train, and the engine leaves the network alone.
  virtual std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                               const StepContext& context) = 0;
  virtual void end_epoch(const StepContext&) {}
  virtual void end_step(const StepContext&) {}

  /// Whether the method trains at all. One that does not needs no source images.
  virtual bool trains() const { return true; }
  /// Images kept from step to step, if the method keeps any. The engine saves
  /// and restores them; they are not part of `save`.
  virtual adaptation::PrototypeMemory* memory() { return nullptr; }
  /// What was decided in this step; null before `begin_step` or if there is nothing.
  virtual const StepDecisions* decisions() const { return nullptr; }

  /// State beyond module parameters and memory by name; `load` gets back what
  /// `save` gave, whatever process it is in.
  virtual std::map<std::string, torch::Tensor> save() const { return {}; }
  virtual void load(const std::map<std::string, torch::Tensor>&) {}
};

/// Builds a method for a network that is already on its device.
using MethodFactory = std::function<std::unique_ptr<Method>(models::ClassifierNetwork)>;

/// How a method trains unless the user says otherwise.
struct TrainingRecipe {
  int64_t epochs = 10;  ///< per step
  int64_t batch_size = 32;
  double lr = 1e-3;  ///< of all parameters
  double momentum = 0.9;
  double weight_decay = 1e-6;
};

/// How the registry knows a method. Each `src/methods/<name>.cpp` defines one
/// `MethodSpec <name>_spec()`; the build lists them in a generated table, so
/// that adding a method is one file and one word in `src/methods/CMakeLists.txt`.
struct MethodSpec {
  std::string_view name;
  std::string_view summary;  ///< one line for `proca methods`
  /// Binds the method's options (flag, TOML key, help, range, default) and
  /// returns what builds the method from the parsed values.
  std::function<MethodFactory(OptionSet&)> configure;
  TrainingRecipe recipe = {};
};

/// Every method, in the order of `src/methods/CMakeLists.txt`.
const std::vector<MethodSpec>& all_methods();

/// Throws `InvalidOption` for an unknown name, with the nearest known one.
const MethodSpec& find_method(std::string_view name);

}  // namespace proca::methods
