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
#include "state/event_log.h"
#include "training/module_state.h"
#include "training/step_checkup.h"
#include "training/training_iteration.h"
#include "training/training_stream.h"

namespace proca::training {

/// Progress in a step: finished epochs, and finished iterations of the next one.
struct StepPosition {
  int64_t epoch = 0;
  int64_t iteration = 0;
};

/// What a step's training works with; all of it outlives the trainer.
struct StepSetup {
  models::ClassifierNetwork network{nullptr};  ///< on the device
  methods::Method* method = nullptr;
  TrainingImages source = {};  ///< without a store where the step needs none
  TrainingImages target = {};
  data::Preprocessing preprocessing = {};
  methods::TrainingRecipe recipe = {};
  int64_t num_iterations = 0;         ///< of the step, where the recipe counts iterations
  methods::StepContext context = {};  ///< with step, seed and the functions set
  methods::OnDoubt on_doubt = methods::OnDoubt::kAdapt;
  torch::Device device = torch::kCPU;
  compute::ComputeOptions compute = {};
  DeviceImages* images = nullptr;  ///< feeds source and target images to the network
};

/// The training loop of one time step, with new optimisers.
class StepTrainer {
 public:
  /// `iteration` is that of the previous step, with the same network and method, so that its
  /// CUDA graphs are reused; or null, and it is created. It must outlive the trainer.
  StepTrainer(StepSetup setup, std::unique_ptr<TrainingIteration>& iteration);

  /// All that `load` needs to resume at `position()`, except the method's memory.
  models::NamedTensors state() const;
  void load(const models::NamedTensors& state, StepPosition position);
  /// Throws `Error` naming a loss term or a weight that is not finite. The losses of an
  /// iteration are computed before its update, so finite losses alone do not make a state
  /// worth saving.
  void check_finite() const;
  StepPosition position() const { return position_; }
  bool is_done() const { return position_.epoch == setup_.context.num_epochs; }
  /// Whether there is anything that `state` could save: an iteration has been done.
  bool has_begun() const { return position_.epoch > 0 || position_.iteration > 0; }

  /// Trains from `position()` to the end of the step. `checkpoint` is called
  /// wherever the step could be resumed; an exception from it ends the training.
  void run(state::EventLog& events, const std::function<void()>& checkpoint);

  /// Of the step; nothing before `run`. One that was not accepted has not been trained on.
  const std::optional<adaptation::StepHealth>& health() const { return checkup_.health(); }
  bool was_accepted() const { return was_accepted_; }

  /// Mean of each loss term in the last epoch.
  const std::map<std::string, double>& losses() const { return losses_; }

 private:
  void cache_predictions();
  [[noreturn]] void refuse_numbers(const std::string& what) const;
  bool counts_iterations(int64_t epoch) const;
  EpochRange range_of(int64_t epoch) const;
  void update_context();
  void begin();
  bool has_untrained_layers() const;
  void train_epoch(state::EventLog& events, const std::function<void()>& checkpoint);
  void end_epoch(const EpochRange& range);
  void expect_batch(const methods::EpochPlan& plan);
  int64_t train_iteration(methods::AdaptationBatch batch);
  void report_epoch(state::EventLog& events, int64_t images, const Stopwatch& watch, double data_s);

  StepSetup setup_;
  TrainingStream source_, target_;
  int64_t extra_epochs_;      // in front of the recipe's
  int64_t total_iterations_;  // where iterations are counted, else 0
  int64_t epoch_begin_ = 0;   // the epoch's first iteration, counted in the step
  TrainingIteration& iteration_;
  StepPosition position_;
  StepCheckup checkup_;
  bool was_accepted_ = true;
  std::map<std::string, double> losses_;
  std::optional<methods::Predictions> predictions_;  // of the current weights
};

}  // namespace proca::training
