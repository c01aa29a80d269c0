#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <torch/types.h>

#include "core/stopwatch.h"
#include "proca/compute/device.h"
#include "proca/data/preprocessing.h"
#include "proca/methods/method.h"
#include "proca/state/event_log.h"
#include "training/feeds/image_tensors.h"
#include "training/sgd.h"
#include "training/training_iteration.h"
#include "training/training_stream.h"

namespace proca::training {

/// How far a step has come: so many epochs, and so many iterations of the next.
struct StepPosition {
  int64_t epoch = 0;
  int64_t iteration = 0;
};

/// What trains: it outlives a step, so that what a GPU has recorded in one can be repeated
/// in the next.
struct TrainingMachine {
  explicit TrainingMachine(const struct StepMaterial& material);

  Sgd optimizer;
  TrainingIteration iteration;  // uses the optimiser
};

/// What a step's training works with; all of it outlives the trainer.
struct StepMaterial {
  models::ClassifierNetwork network{nullptr};  ///< on the device
  methods::Method* method = nullptr;
  TrainingImages source = {};  ///< without a store where the step needs none
  TrainingImages target = {};
  data::Preprocessing preprocessing = {};
  methods::TrainingRecipe recipe = {};
  int64_t num_iterations = 0;         ///< of the step, where the recipe counts iterations
  methods::StepContext context = {};  ///< with step, seed and the functions set
  torch::Device device = torch::kCPU;
  compute::ComputeOptions compute = {};
  DeviceImages* images = nullptr;  ///< feeds source and target images to the network
};

/// The training loop of one time step. The optimiser begins anew.
class StepTrainer {
 public:
  /// `machine` is that of the step before, or null; it is made if there is none that fits,
  /// and must outlive the trainer.
  StepTrainer(StepMaterial material, std::unique_ptr<TrainingMachine>& machine);

  /// Where it is: everything that `load` needs to go on from `position()`, less
  /// the method's memory.
  std::map<std::string, torch::Tensor> state() const;
  /// Throws `Error` naming a loss term or a weight that is no longer a number. The loss of an
  /// iteration is of the weights before it, so finite losses alone do not make a state that
  /// is worth saving.
  void check_finite() const;
  StepPosition position() const { return position_; }
  bool is_done() const { return position_.epoch == material_.context.num_epochs; }
  /// Whether there is anything that `state` could save: an iteration has been done.
  bool has_begun() const { return position_.epoch > 0 || position_.iteration > 0; }
  void load(const std::map<std::string, torch::Tensor>& state, StepPosition position);

  /// Trains from `position()` to the end of the step. `checkpoint` is called
  /// wherever the step could go on from later; what it throws ends the training.
  void run(state::EventLog& events, const std::function<void()>& checkpoint);

  /// Mean of each loss term in the last epoch.
  const std::map<std::string, double>& losses() const { return losses_; }

 private:
  void remember_current_view();
  void check_answers(const methods::Predictions& view) const;
  [[noreturn]] void refuse_numbers(const std::string& what) const;
  bool counts_iterations(int64_t epoch) const;
  EpochStretch stretch_of(int64_t epoch) const;
  void train_epoch(state::EventLog& events, const std::function<void()>& checkpoint);
  void expect_own_images(const methods::EpochPlan& plan);
  int64_t train_iteration(methods::AdaptationBatch batch);
  void report_epoch(state::EventLog& events, int64_t images, const Stopwatch& watch, double data_s);
  void update_progress();

  StepMaterial material_;
  TrainingStream source_, target_;
  int64_t extra_epochs_;      // in front of the recipe's
  int64_t total_iterations_;  // where iterations are counted, else 0
  int64_t epoch_begin_ = 0;   // the iteration of the step that the epoch began with
  TrainingMachine& machine_;
  StepPosition position_;
  std::map<std::string, double> losses_;
  std::optional<methods::Predictions> current_view_;  // of the weights as they are
};

/// Parameters and buffers of a module by name; none for null.
std::map<std::string, torch::Tensor> module_state(const torch::nn::Module* module);
/// Copies what `module_state` gave. Throws `InputError` if names or shapes differ.
void load_module_state(torch::nn::Module* module,
                       const std::map<std::string, torch::Tensor>& state);

}  // namespace proca::training
