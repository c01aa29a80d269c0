#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/load_options.h"
#include "proca/methods/method_options.h"
#include "proca/state/feature_record.h"
#include "proca/state/state_directory.h"

namespace proca::training {
class TrainingIteration;
class TrainingWarmUp;
}  // namespace proca::training

namespace proca::engine {

/// Which source images a step works with.
enum class SourceImages {
  kAuto,    ///< those of the folder; where it is gone, those that the state keeps
  kFolder,  ///< those of the folder
  kKept,    ///< those that the state keeps (`KeepSourceOptions`)
};

/// How to adapt. Fields that are empty follow the method's recipe.
struct AdaptOptions {
  methods::MethodOptions method;
  /// Option -> value of the method, where the user chose none: a preset's.
  std::map<std::string, std::vector<std::string>> method_defaults;
  std::optional<int64_t> epochs;      ///< per step
  std::optional<int64_t> iterations;  ///< per step, before `budget`
  /// How much of the iterations to do, for methods that count them. What goes by their
  /// count (rates, ramps, refreshes) is squeezed or stretched with it.
  double budget = 1;
  /// The budget in iterations per step instead, to give methods equally many.
  std::optional<int64_t> budget_iterations;
  std::optional<int64_t> batch_size;
  std::optional<double> lr;
  std::optional<double> added_lr_factor;
  std::optional<double> momentum;
  std::optional<double> weight_decay;
  std::optional<data::Crop> crop;
  std::optional<double> flip;
  std::optional<methods::TrainingRecipe::Start> start;
  /// What to do with a step that is not good; empty: what the method does.
  std::optional<methods::OnDoubt> on_doubt;
  /// Weight file that the first step starts from instead of the source model; its
  /// classifier is taken if it fits, else fresh.
  std::string start_weights;
  /// How the method trains, with the fields that are set put in.
  methods::TrainingRecipe resolve(methods::TrainingRecipe recipe) const;
  /// What to do with a step that is not good.
  methods::OnDoubt resolve_on_doubt(const methods::MethodSpec& method) const;
  /// How many iterations that makes per step; 0 for methods that count epochs.
  int64_t resolve_iterations(const methods::TrainingRecipe& recipe) const;

  /// Where the source images are, if not where the state says. They must be those that the
  /// source model was trained on, pixel by pixel; the state then knows their new place.
  std::string source;
  SourceImages source_images = SourceImages::kAuto;
  int64_t seed = 0;
  /// Folder that keeps the source model's outputs for other runs; empty for none. Results do
  /// not depend on it.
  std::string frozen_cache;
  std::string tensorboard;        ///< folder for TensorBoard's event files; empty for none
  int64_t checkpoint_every = 60;  ///< seconds between checkpoints within a step
  /// How many steps the state keeps beside the current one, to be taken back (`state::undo_step`)
  /// or used (`load_model_of_step`). Each takes as much disk as model, memory and method's state.
  int64_t keep_steps = 1;
  data::LoadOptions load;
  compute::ComputeOptions compute;

  /// Everything.
  void bind(OptionSet& options);
  /// The method and its options, and those of training.
  void bind_training(OptionSet& options);
};

struct RunIdentity;
class StateSession;
class StepInputs;

/// The outcome of a step.
struct StepOutcome {
  int64_t step = 0;  ///< its number, from 1
  int64_t num_images = 0;
  std::vector<int64_t> detected = {};         ///< classes; empty for methods that detect none
  std::map<std::string, double> losses = {};  ///< mean of each term in the last epoch
  /// How far the step can be trusted; nothing for methods that do not train.
  std::optional<adaptation::StepHealth> health = {};
  bool trained = true;  ///< false if the step was not accepted, and the network is as it was
  double seconds = 0;   ///< in this process
  /// The state had been adapted to these images with these options already, and nothing was
  /// done.
  bool already_done = false;
};

/// What to do with the images of the last step.
enum class SameImages {
  /// Nothing: a command that is given twice adapts once; `InputError` for other options.
  kSkip,
  kSkipAnyOptions,  ///< nothing, even if the options are other ones
  kAdaptAgain,
  kRequire,  ///< nothing; other images, or other options, are an `InputError`
};
/// What to do with an unfinished step on other images or with other options.
enum class Unfinished {
  kRefuse,   ///< `InputError`: it should be finished first
  kDiscard,  ///< delete its checkpoint
};

/// What decides the result of a step.
struct StepIdentity {
  std::string options;  ///< with the images, as TOML
  std::string digest;
};

/// What an adapter works with. `proca run` makes these itself, because it writes to the state
/// and decodes images between the steps.
struct AdapterParts {
  std::shared_ptr<StateSession> session;                   ///< what steps write
  std::shared_ptr<StepInputs> inputs;                      ///< what steps read
  std::shared_ptr<training::TrainingWarmUp> warm_up = {};  ///< of the first step; may be null
};

/// Takes a state directory through time steps: unlabelled images come in, the
/// current model, the prototypes and the steps' records go into the state.
///
/// A step either is finished, and the state then has all of it, or it is not, and the
/// model of the step before stays in place. An unfinished step has checkpoints beside it;
/// the same call after a kill or Ctrl-C goes on from the last one and, on a CPU with the
/// same number of threads, ends bit-equal to a step that was never interrupted.
///
/// Target images are read in their own step only. Of earlier ones nothing but the
/// prototypes in the state is used.
///
/// LibTorch's settings (number of threads, TF32, CUDA stream) are the caller's:
/// `compute::set_up_libtorch`.
///
/// Example:
/// ```
/// compute::set_up_libtorch(options.compute);
/// Adapter adapter(options, "state");
/// adapter.adapt(data::open_images("monday", {.labels = data::Labels::kIgnored}));
/// ```
class Adapter {
 public:
  /// Locks the state. Without a chosen method it goes on with that of the steps before. Throws
  /// `InputError` when it is missing, damaged, in source training, in use, or has been adapted with
  /// another method.
  Adapter(const AdaptOptions& options, const std::filesystem::path& state);
  Adapter(const AdaptOptions& options, AdapterParts parts);
  ~Adapter();

  /// One time step. Throws `InputError` when there is no image, or when the source
  /// images that the state names cannot be found; `Interrupted` on Ctrl-C, after
  /// saving; `Error` naming the loss term that is no longer a number. After an
  /// exception the object cannot be used any more.
  StepOutcome adapt(std::shared_ptr<const data::ImageSource> target,
                    SameImages same_images = SameImages::kSkip,
                    Unfinished unfinished = Unfinished::kRefuse);

  const state::Manifest& manifest() const;
  /// The current model, on the device.
  const models::ClassifierNetwork& network() const { return network_; }
  /// The decisions of the last finished step, in whatever process; null if there are none.
  const methods::StepDecisions* decisions() const;
  /// The images that the method keeps from step to step; null if it keeps none.
  const adaptation::PrototypeMemory* memory() const;

 private:
  void build_method();
  RunIdentity identify() const;
  bool is_of(const RunIdentity& identity, const std::string& digest, const char* file);
  bool is_done(const RunIdentity& identity, SameImages same_images);
  [[noreturn]] void refuse_further_step(const RunIdentity& identity);
  RunIdentity saved_identity(const RunIdentity& mine, const char* file);
  void refuse_same_images(const RunIdentity& identity);
  void check_unfinished(const RunIdentity& identity, Unfinished unfinished);
  void train(StepOutcome& outcome);
  void check_agreement();
  state::FeatureSets step_features();

  AdaptOptions options_;
  methods::MethodOptions::Resolved method_choice_;
  methods::TrainingRecipe recipe_;
  AdapterParts parts_;
  models::ClassifierNetwork network_{nullptr};
  std::unique_ptr<methods::Method> method_;                 // built by the first step
  std::unique_ptr<training::TrainingIteration> iteration_;  // of the last step
  StepIdentity identity_;                                   // of the step under way
  bool has_failed_ = false;
};

/// Starts to get a GPU ready for the next step's training, beside what the caller does
/// meanwhile. Null where there is nothing to prepare: on a CPU, with several ranks, for a
/// method that does not train.
std::shared_ptr<training::TrainingWarmUp> begin_training_warm_up(const AdaptOptions& options,
                                                                 const StateSession& session);

/// Makes `folder` a state that has the source model of `source` and no step yet.
/// Does nothing if it is one already.
void copy_source_state(const std::filesystem::path& source, const std::filesystem::path& folder);
void copy_source_state(const state::StateDirectory& source, const std::filesystem::path& folder);

}  // namespace proca::engine
