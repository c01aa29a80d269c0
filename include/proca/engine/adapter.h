#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/load_options.h"
#include "proca/methods/method_options.h"
#include "proca/state/event_log.h"
#include "proca/state/feature_record.h"
#include "proca/state/state_directory.h"

namespace proca::training {
class DeviceImages;
}

namespace proca::engine {

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
  /// Weight file that the first step starts from instead of the source model; its
  /// classifier is taken if it fits, else fresh.
  std::string start_weights;
  /// How the method trains, with the fields that are set put in.
  methods::TrainingRecipe resolve(methods::TrainingRecipe recipe) const;
  /// How many iterations that makes per step; 0 for methods that count epochs.
  int64_t resolve_iterations(const methods::TrainingRecipe& recipe) const;

  int64_t seed = 0;
  /// Folder in which what the source model says about images is kept for other runs;
  /// empty for none. It decides nothing.
  std::string frozen_cache;
  std::string tensorboard;        ///< folder for TensorBoard's event files; empty for none
  int64_t checkpoint_every = 60;  ///< seconds between checkpoints within a step
  data::LoadOptions load;
  compute::ComputeOptions compute;

  /// Everything.
  void bind(OptionSet& options);
  /// The method and its options, and those of training.
  void bind_training(OptionSet& options);
};

/// What a step came to.
struct StepOutcome {
  int64_t step = 0;  ///< its number, from 1
  int64_t num_images = 0;
  std::vector<int64_t> detected = {};         ///< classes; empty for methods that detect none
  std::map<std::string, double> losses = {};  ///< mean of each term in the last epoch
  double seconds = 0;                         ///< in this process
  /// The state had been adapted to these very images with these options already,
  /// and nothing was done.
  bool already_done = false;
};

/// What to do with images that the last step was about already.
enum class SameImages {
  kSkip,  ///< nothing: a command that is given twice adapts once
  kAdaptAgain,
};
/// What to do with a step that was cut off and was about something else.
enum class Unfinished {
  kRefuse,   ///< `InputError`: it should be finished first
  kDiscard,  ///< forget it
};

/// What an `Adapter` is made for.
enum class Purpose {
  kSteps,    ///< steps follow: a GPU is made ready for training while the state is loaded
  kRecords,  ///< what is known of the state and its steps
};

/// Files by name for the folder of a step.
struct StepFiles {
  std::map<std::string, std::string> texts = {};
  /// Worked out when they are written, on another thread if steps are.
  std::map<std::string, std::function<models::NamedTensors()>> tensors = {};
};

/// Takes a state directory through time steps: unlabelled images come in, the
/// current model, the prototypes and the steps' records go into the state.
///
/// A step either is finished, and the state then has everything of it, or it is not,
/// and the model of the step before stays in place. Checkpoints are kept on the
/// side; the same call after a kill or Ctrl-C goes on from the last one and, on a CPU
/// with the same number of threads, ends bit-equal to a step that was never cut off.
///
/// Target images are read in their own step only. Of earlier ones nothing but the
/// prototypes in the state is used.
///
/// Example:
/// ```
/// Adapter adapter(options, "state");
/// adapter.adapt(data::open_images("monday", {.labels = data::Labels::kIgnored}));
/// ```
class Adapter {
 public:
  /// Locks the state. Throws `InputError` when it is missing, damaged, in source
  /// training, in use, or has been adapted with another method.
  ///
  /// `images` is where images are kept on the device: that of another Adapter with the
  /// same options of computing, or null for one of its own.
  Adapter(const AdaptOptions& options, std::filesystem::path state,
          std::shared_ptr<training::DeviceImages> images = nullptr,
          Purpose purpose = Purpose::kSteps);
  ~Adapter();

  /// One time step. Throws `InputError` when there is no image, or when the source
  /// images that the state names cannot be found; `Interrupted` on Ctrl-C, after
  /// saving; `Error` naming the loss term that is no longer a number. After an
  /// exception the object is of no further use.
  StepOutcome adapt(std::shared_ptr<const data::ImageSource> target,
                    SameImages same_images = SameImages::kSkip,
                    Unfinished unfinished = Unfinished::kRefuse);

  /// The size that training images are kept at, if it is not that of evaluation.
  std::optional<data::ResizeOptions> training_resize() const;
  /// The next step's images at `training_resize()`, in the order of those that `adapt`
  /// will get: for callers who have them decoded already. Used once.
  void set_training_images(std::shared_ptr<const data::ImageSource> images);

  /// The decoded images of steps and of the source take no more than this, in place of
  /// `AdaptOptions::load.cache_ram`. To be called before `prepare_step` and `adapt`.
  void limit_image_memory(int64_t bytes);

  /// Begins to load the source images that the first step will need, while the caller does
  /// something else. What is wrong with them comes out here or in `adapt`.
  void prepare_step();

  /// From here on finished steps are written on another thread while the next one begins:
  /// `adapt` returns when a step is trained, `settle` when it is in the state. A kill in
  /// between loses that step, and the same call does it again.
  void save_in_background();
  /// Waits until everything is in the state. Throws what kept it out.
  void settle();

  const state::Manifest& manifest() const;
  /// The current model, on the device.
  const models::ClassifierNetwork& network() const;
  torch::Device device() const;
  /// For passes over images of the caller's (`InferenceOptions::images`).
  const std::shared_ptr<training::DeviceImages>& images() const;
  /// The decisions of the last finished step, in whatever process; null if there are none.
  const methods::StepDecisions* decisions() const;

  /// What `steps/NN/features.safetensors` shows beside target images: prototypes as the
  /// current network sees them, and centres of source classes where they are known and
  /// of the same feature space. `seen` has features, predicted classes and names of images
  /// that the caller has passed through the current network, as in evaluation: prototypes
  /// among them need no pass of their own.
  state::FeatureSets reference_features(const state::FeaturePoints& seen = {});
  /// Names of the prototypes among them, which may come twice.
  std::vector<std::string> shown_prototypes() const;
  /// From here on `adapt` does not look at the features of a step: the caller, who passes
  /// over the images anyway, puts them into the step's folder.
  void leave_features_to_caller();

  /// Adds an event to `events.jsonl`; it is kept with the next change of the state.
  void write_event(const std::string& event, const std::vector<state::EventField>& fields);
  /// Puts files into the folder of a finished step (from 1), such as `metrics.json`.
  void put_step_files(int64_t step, StepFiles files);
  /// The text, or nothing if the step has no such file.
  std::optional<std::string> step_file(int64_t step, const std::string& name) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Makes `folder` a state that has the source model of `source` and no step yet.
/// Does nothing if it is one already.
void copy_source_state(const std::filesystem::path& source, const std::filesystem::path& folder);
void copy_source_state(const state::StateDirectory& source, const std::filesystem::path& folder);

}  // namespace proca::engine
