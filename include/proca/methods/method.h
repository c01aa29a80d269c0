#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torch/nn/module.h>
#include <torch/types.h>

#include "proca/adaptation/prototype_memory.h"
#include "proca/adaptation/pseudo_labels.h"
#include "proca/adaptation/shared_classes.h"
#include "proca/adaptation/step_health.h"
#include "proca/config/options.h"
#include "proca/data/augmentation.h"
#include "proca/data/image_store.h"
#include "proca/models/classifier_network.h"
#include "proca/models/named_tensors.h"

namespace proca::methods {

/// What a method sees of one iteration, all of it on the network's device. There is no
/// field for target labels, so no method can train on them by mistake.
struct AdaptationBatch {
  torch::Tensor source_images = {};  ///< float [Ns, 3, H, W]
  torch::Tensor source_labels = {};  ///< int64 [Ns]
  torch::Tensor target_images = {};  ///< float [Nt, 3, H, W]
  torch::Tensor target_ids = {};     ///< int64 [Nt], index in the current target set
  /// As many more source images as the epoch's plan asks for; undefined if none.
  torch::Tensor extra_source_images = {};
  torch::Tensor extra_source_labels = {};
  /// What the method's own `prepare` returned for this iteration.
  models::NamedTensors inputs = {};

  /// An input by name; undefined if there is none.
  torch::Tensor input(const std::string& name) const;
  /// Every defined tensor of the batch by name, for code that treats them alike.
  std::map<std::string, torch::Tensor*> tensors();
};

/// What the iterations of an epoch consist of.
struct EpochPlan {
  bool source = true;        ///< labelled source images
  bool target = true;        ///< target images
  int64_t extra_source = 0;  ///< further source images per iteration
  /// Upper bound of the images that the method adds to an iteration itself (replay), now
  /// or in a later epoch of the step.
  int64_t replayed = 0;

  /// Of one iteration, at most.
  int64_t images(int64_t batch_size) const {
    return (source ? batch_size : 0) + (target ? batch_size : 0) + extra_source + replayed;
  }
};

/// One named, weighted part of the objective. The engine minimises the weighted
/// sum and logs every term under its name.
struct LossTerm {
  std::string_view name;
  torch::Tensor value;  ///< scalar
  double weight = 1.0;  ///< 0: logged, not minimised
};

/// Network outputs over a whole data set, in data-set order, without gradients,
/// on the CPU.
struct Predictions {
  torch::Tensor probabilities;  ///< float [N, K]
  torch::Tensor features;       ///< float [N, D]
};

/// The model that predictions and features come from.
enum class ModelChoice {
  kSource,   ///< the frozen source model; computed once and kept
  kCurrent,  ///< the network as it is now; computed again after each iteration
};

/// What the engine provides to a hook.
struct StepContext {
  int64_t step = 0;             ///< 0-based time step
  int64_t epoch = 0;            ///< 0-based within the step
  int64_t num_epochs = 1;       ///< of the step
  int64_t iteration = 0;        ///< 0-based within the epoch
  int64_t num_iterations = 1;   ///< of the epoch
  int64_t batch_size = 32;      ///< images of one kind per iteration; the last may have fewer
  double progress = 0;          ///< fraction of the step's iterations done, in [0, 1]
  int64_t step_iteration = 0;   ///< 0-based within the step, extra epochs not counted
  int64_t step_iterations = 1;  ///< of the step, as far as it is known
  /// Iterations of the step so far on the scale of the method's authors: a run with
  /// `--budget 0.1` does a tenth of the iterations, and its clock runs ten times as
  /// fast. Learning rates, ramps and refreshes follow it.
  double clock = 0;
  double clock_tick = 1;   ///< what one iteration adds to the clock
  uint64_t seed = 0;       ///< for `RandomStream`s, together with step and epoch
  std::string phase = {};  ///< in `compute_losses`: the optimiser of this update

  /// Predictions of a model in evaluation mode for the step's target images.
  std::function<Predictions(ModelChoice)> predict_target = {};
  /// The mean feature of each class of source images, float [K, D], on the
  /// network's device.
  std::function<torch::Tensor(ModelChoice)> source_centres = {};
  /// Share of each class among the source images, float [K].
  torch::Tensor source_prior = {};
  /// Pixels of target images as the network sees them, uint8 [n, H, W, 3].
  std::function<torch::Tensor(const std::vector<int64_t>& ids)> target_pixels = {};
  /// Pixels, uint8 [n, H, W, 3], as network input on its device.
  std::function<torch::Tensor(const torch::Tensor& pixels)> to_input = {};

  /// Called with one batch of network input after the other.
  using BatchFunction =
      std::function<void(const torch::Tensor& images, const torch::Tensor& labels)>;
  /// Passes over all target images in order (labels are undefined) and over all source
  /// images (labels int64 [n] on the network's device), as in evaluation and without
  /// gradients: for methods that need more than features and probabilities.
  std::function<void(const BatchFunction&)> for_each_target_batch = {};
  std::function<void(const BatchFunction&)> for_each_source_batch = {};
};

/// `value` as a float scalar on `device`, without a copy from the host: for
/// coefficients in `Method::prepare`.
torch::Tensor scalar_on(torch::Device device, double value);

/// Whether the clock reaches a multiple of `every` at the end of this iteration.
bool completes_interval(const StepContext& context, double every);

/// What a method decided in a step. The engine writes it to the step's folder in the
/// state directory, for people to check.
struct StepDecisions {
  adaptation::DetectionOptions detection;
  torch::Tensor source_prior;  ///< float [K], as used by detection
  adaptation::SharedClasses shared_classes;
  adaptation::PseudoLabels pseudo_labels;  ///< by target image
  /// How far these labels can be trusted, from a method that measures it itself.
  std::optional<adaptation::LabelTrust> trust = {};
};

/// An optimiser of a method's own: Adam, started anew at every step.
struct OptimizerSpec {
  std::string name;  ///< in phases and checkpoints
  std::vector<torch::Tensor> parameters;
  double lr = 1e-3;
};

/// A domain-adaptation method: turns batches into losses and keeps whatever
/// memory that needs. The engine owns everything else: data loading, the
/// optimisers, precision, gradient exchange, logging and checkpoints.
///
/// For every time step the engine calls
///
///     begin_step
///       plan_epoch
///       begin_epoch
///         prepare            once per iteration
///         compute_losses     once per phase of the iteration (nearly always one)
///       end_epoch
///     end_step
///
/// A step that is refused (`MethodSpec::on_doubt`) ends after `begin_step`: the network, the
/// memory and what `save` returned before stay as they were, but for `decisions`.
///
/// Where a recipe counts iterations instead of epochs, the engine divides them into
/// ten rounds (`--epochs`) that take the place of epochs. LibTorch's own random
/// generators, which dropout uses, are seeded before every iteration.
///
/// A checkpoint may be taken between any two iterations. A method that is resumed from
/// one gets `load` instead of the calls that were made before it.
class Method {
 public:
  virtual ~Method() = default;

  /// Extra trainable modules (discriminators, ...); null if there are none.
  virtual std::shared_ptr<torch::nn::Module> auxiliary_modules() { return nullptr; }

  /// Epochs of a step (0-based) before those of the recipe: training that must come
  /// before adaptation proper.
  virtual int64_t extra_epochs(int64_t /*step*/) const { return 0; }
  /// Whether a step (0-based) needs source images at all. If not, the engine does not
  /// open them.
  virtual bool uses_source(int64_t /*step*/) const { return true; }

  virtual void begin_step(const StepContext&) {}
  virtual EpochPlan plan_epoch(const StepContext&) const { return {}; }
  virtual void begin_epoch(const StepContext&) {}
  /// Inputs of this iteration beside its images that are chosen outside the network:
  /// replayed images, sampled negatives, looked-up labels, a coefficient that follows a
  /// ramp. All on the network's device. `compute_losses` gets them as `batch.inputs`.
  virtual models::NamedTensors prepare(const AdaptationBatch& /*batch*/, const StepContext&) {
    return {};
  }
  /// The terms of this iteration's objective. None at all, or none with a weight
  /// other than zero, means that there is nothing to train now, and the engine
  /// leaves the network alone.
  virtual std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                               const StepContext& context) = 0;
  /// Whether an iteration can be captured as a CUDA graph: `compute_losses` is a function
  /// of its batch (`inputs` included) and of weights alone. It reads nothing from the
  /// context that changes between iterations of a step, copies no value to the host, and
  /// keeps no tensor for later. The engine captures one graph per shape of batch and
  /// replays it (`--graph`).
  virtual bool supports_cuda_graph() const { return false; }
  virtual void end_epoch(const StepContext&) {}
  virtual void end_step(const StepContext&) {}

  /// Optimisers beside the recipe's, which trains the network and the auxiliary modules.
  virtual std::vector<OptimizerSpec> optimizers() { return {}; }
  /// The updates of one iteration, in order: names of `optimizers`, or "" for the recipe's.
  /// For each of them `compute_losses` is called with `context.phase` set to the name, and
  /// that optimiser minimises the terms with regard to its own parameters.
  virtual std::vector<std::string> phases(const StepContext&) const { return {""}; }

  /// Whether the method trains at all. One that does not needs no source images.
  virtual bool trains() const { return true; }
  /// Images kept from step to step, if the method keeps any. The engine saves
  /// and restores them; they are not part of `save`.
  virtual adaptation::PrototypeMemory* memory() { return nullptr; }
  /// What was decided in this step; null before `begin_step` or if there is nothing.
  virtual const StepDecisions* decisions() const { return nullptr; }

  /// State beyond module parameters, optimisers and memory. `load` gets what `save`
  /// returned, in this process or another. Finished states of earlier versions may hold
  /// more names.
  virtual models::NamedTensors save() const { return {}; }
  virtual void load(const models::NamedTensors&) {}
};

/// Builds a method for a network that is already on its device. In the first step
/// that is a source model; a method that wants layers between backbone and
/// classifier inserts them (`insert_neck`) if they are not there yet. `seed` is that
/// of the run, for random initial weights.
using MethodFactory =
    std::function<std::unique_ptr<Method>(models::ClassifierNetwork, uint64_t seed)>;

/// How a method trains unless the user says otherwise.
struct TrainingRecipe {
  int64_t epochs = 10;  ///< per step; rounds, where iterations are counted
  /// Per step, before `--budget`; 0 for methods that count epochs, each one pass over
  /// the smaller of source and target. Where iterations are counted, source and
  /// target are endless streams, and images that do not fill a batch are left out until
  /// the next shuffle.
  int64_t iterations = 0;
  int64_t batch_size = 32;
  double lr = 1e-3;            ///< of the layers of the source model
  double added_lr_factor = 1;  ///< times `lr`: of layers that the method adds
  double momentum = 0.9;
  enum class Momentum { kClassic, kNesterov } momentum_kind = Momentum::kClassic;
  double weight_decay = 1e-6;
  /// The rate at a time is lr * (1 + decay * min(clock, decay_until)) ^ -decay_power.
  double decay = 0;
  double decay_power = 0.75;
  double decay_until = std::numeric_limits<double>::infinity();
  /// Augmentation of training images; the default is as in evaluation.
  data::Crop crop = data::Crop::kCentre;
  double flip = 0;  ///< probability
  /// Before a random crop: to 256 / 224 of the image size, both sides or the shorter one.
  data::ResizeOptions::Mode resize = data::ResizeOptions::Mode::kExact;
  enum class Sampling {
    kShuffled,
    kClassBalanced,  ///< with replacement, every class equally often
  } source_sampling = Sampling::kShuffled;
  enum class Start {
    kSourceModel,
    kWeights,  ///< the weights that source training started from, where they are known
  } start = Start::kSourceModel;
};

/// What to do with a step whose health (`adaptation::StepHealth`) is not good.
enum class OnDoubt {
  kAdapt,        ///< train on it whatever the verdict: what the papers of most methods do
  kSkipRefused,  ///< leave the network alone if the step is refused
  kSkip,         ///< leave the network alone if the step is refused or doubtful
  kStop,         ///< end with an error if the step is refused or doubtful; nothing is written
};

/// A method as the registry knows it. Each `src/methods/<name>.cpp` defines one
/// `MethodSpec <name>_spec()`; the build lists them in a generated table, so
/// that adding a method is one file and one word in `src/methods/CMakeLists.txt`.
struct MethodSpec {
  std::string_view name;
  std::string_view summary;  ///< one line for `proca methods`
  /// Binds the method's options (flag, TOML key, help, range, default) and
  /// returns what builds the method from the parsed values.
  std::function<MethodFactory(OptionSet&)> configure;
  TrainingRecipe recipe = {};
  bool trains = true;                  ///< what `Method::trains` returns
  OnDoubt on_doubt = OnDoubt::kAdapt;  ///< unless the user says otherwise (`--on-doubt`)
};

/// Every method, in the order of `src/methods/CMakeLists.txt`.
const std::vector<MethodSpec>& all_methods();

/// Throws `InvalidOption` for an unknown name, with the nearest known one.
const MethodSpec& find_method(std::string_view name);

}  // namespace proca::methods
