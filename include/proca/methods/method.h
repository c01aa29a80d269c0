#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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
#include "proca/config/options.h"
#include "proca/data/augmentation.h"
#include "proca/data/image_store.h"
#include "proca/models/classifier_network.h"

namespace proca::methods {

/// What a method sees of one iteration. There is no field for target labels, so
/// no method can train on them by mistake.
struct AdaptationBatch {
  torch::Tensor source_images;  ///< float [Ns, 3, H, W]
  torch::Tensor source_labels;  ///< int64 [Ns]
  torch::Tensor target_images;  ///< float [Nt, 3, H, W]
  torch::Tensor target_ids;     ///< int64 [Nt], index in the current target set
  /// As many more source images as the epoch's plan asks for; undefined if none.
  torch::Tensor extra_source_images = {};
  torch::Tensor extra_source_labels = {};
  /// What the method's own `prepare` gave for this iteration.
  std::vector<torch::Tensor> prepared = {};
};

/// What an epoch's iterations are made of.
struct EpochPlan {
  bool source = true;        ///< labelled source images come in
  bool target = true;        ///< target images come in
  int64_t extra_source = 0;  ///< further source images per iteration
  /// At most so many images of the method's own, such as replayed ones, go through the
  /// network together with the batch's, now or in a later epoch of the step.
  int64_t own_images = 0;

  /// Of one iteration, at most.
  int64_t images(int64_t batch_size) const {
    return (source ? batch_size : 0) + (target ? batch_size : 0) + extra_source + own_images;
  }
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
  kCurrent,  ///< the network as it is now: a pass over the images, kept until the next iteration
};

/// What the engine lends a method for the length of one hook call.
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
  /// Iterations of the step so far as the method's authors count them: a run with
  /// `--budget 0.1` does a tenth of the iterations, and its clock ticks ten times as
  /// fast. Learning rates, ramps and refreshes go by it.
  double clock = 0;
  double clock_tick = 1;  ///< what one iteration adds to the clock
  uint64_t seed = 0;      ///< of every random choice; make streams of it, with step and epoch

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

  /// One batch of a pass over images, as the network sees them in evaluation.
  using Visitor = std::function<void(const torch::Tensor& images, const torch::Tensor& labels)>;
  /// Passes over all target images in order (labels are undefined), and over all
  /// source images (labels int64 [n] on the network's device); for methods that
  /// need something else than features and probabilities. Without gradients.
  std::function<void(const Visitor&)> visit_target = {};
  std::function<void(const Visitor&)> visit_source = {};
};

/// Numbers of an iteration, such as coefficients, as float scalars on `device`: for
/// `Method::prepare`.
std::vector<torch::Tensor> device_scalars(const std::vector<double>& values, torch::Device device);

/// Whether the clock reaches a multiple of `every` at the end of this iteration.
bool completes_interval(const StepContext& context, double every);

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
///       plan_epoch
///       begin_epoch
///         prepare            once per iteration
///         compute_losses
///       end_epoch
///     end_step
///
/// Where a method counts iterations instead of epochs, the engine deals them out
/// to ten rounds (`--epochs`) that take the place of epochs. LibTorch's own random
/// generators, which dropout uses, are seeded before every iteration.
///
/// A checkpoint may be taken between any two calls. A method that comes back from
/// one gets `load` instead of the calls that were made before it.
class Method {
 public:
  virtual ~Method() = default;

  /// Extra trainable modules (discriminators, ...); null if there are none.
  virtual std::shared_ptr<torch::nn::Module> auxiliary_modules() { return nullptr; }

  /// Epochs of a step (0-based) in front of those the recipe has: training that
  /// must come before adaptation proper.
  virtual int64_t extra_epochs(int64_t /*step*/) const { return 0; }
  /// Whether a step (0-based) needs source images at all. Where it does not, the
  /// engine does not open them.
  virtual bool uses_source(int64_t /*step*/) const { return true; }

  virtual void begin_step(const StepContext&) {}
  virtual EpochPlan plan_epoch(const StepContext&) const { return {}; }
  virtual void begin_epoch(const StepContext&) {}
  /// What this iteration needs beside its images and is chosen outside the network:
  /// replayed images, drawn negatives, labels looked up, a coefficient that follows a
  /// ramp. `compute_losses` finds it in `batch.prepared`. All on the network's device.
  virtual std::vector<torch::Tensor> prepare(const AdaptationBatch& /*batch*/, const StepContext&) {
    return {};
  }
  /// Whether `compute_losses` is a function of its batch (`prepared` included) and of
  /// weights alone, computed on the device from beginning to end: it asks nothing of the
  /// context that changes between iterations of a step, reads no value back, and keeps
  /// no tensor for later. On a GPU such an iteration is recorded once for every
  /// shape of its batch and then repeated without the host's help (`--graph`).
  virtual bool is_repeatable() const { return false; }
  /// The terms of this iteration's objective. None at all, or none with a weight
  /// other than zero, means that there is nothing to train now, and the engine
  /// leaves the network alone.
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

/// Builds a method for a network that is already on its device. In the first step
/// that is a source model; a method that wants layers between backbone and
/// classifier puts them in (`insert_neck`) if they are not there yet. `seed` is that
/// of the run, for layers that start at random.
using MethodFactory =
    std::function<std::unique_ptr<Method>(models::ClassifierNetwork, uint64_t seed)>;

/// How a method trains unless the user says otherwise.
struct TrainingRecipe {
  int64_t epochs = 10;  ///< per step; rounds, where iterations are counted
  /// Per step, before `--budget`; 0 for methods that count epochs, each one pass over
  /// the smaller of source and target. Where iterations are counted, source and
  /// target go round and round, and images that do not fill a batch wait for the
  /// next shuffle.
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
  /// How training images are shown; no cut and no flip is as in evaluation.
  data::Crop crop = data::Crop::kCentre;
  double flip = 0;  ///< probability
  /// Before a random cut: to 256 / 224 of the image size, both sides or the shorter one.
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
  bool trains = true;  ///< what `Method::trains` will say; one that does begins with the source
};

/// Every method, in the order of `src/methods/CMakeLists.txt`.
const std::vector<MethodSpec>& all_methods();

/// Throws `InvalidOption` for an unknown name, with the nearest known one.
const MethodSpec& find_method(std::string_view name);

}  // namespace proca::methods
