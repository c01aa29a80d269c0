#include "training/step_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/Context.h>
#include <fmt/format.h>

#include "core/progress.h"
#include "core/scope_timer.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
#include "models/weights/finite_check.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/core/random.h"
#include "training/epoch_feeds.h"

namespace proca::training {
namespace {

std::string list_losses(const std::map<std::string, double>& losses, int decimals) {
  std::string text;
  for (const auto& [name, value] : losses) {
    text += fmt::format("{}{} {:.{}f}", text.empty() ? "" : ", ", name, value, decimals);
  }
  return text;
}

TrainingIteration& ready_iteration(std::unique_ptr<TrainingIteration>& iteration,
                                   const StepSetup& setup) {
  if (iteration) {
    iteration->reset();
    return *iteration;
  }
  auto& method = *setup.method;
  iteration = std::make_unique<TrainingIteration>(
      make_optimizers(setup.network, method, setup.recipe), nullptr, setup.compute, setup.device,
      cuda_graph_capturer_for(setup.compute, setup.device,
                              method.supports_cuda_graph() && method.optimizers().empty(),
                              "this method"));
  share_training(*iteration, setup.network, setup.compute);
  return *iteration;
}

}  // namespace

StepTrainer::StepTrainer(StepSetup setup, std::unique_ptr<TrainingIteration>& iteration)
    : setup_(std::move(setup)),
      source_(setup_.source, setup_.preprocessing, "source", setup_.recipe.source_sampling,
              setup_.context.seed, *setup_.images),
      target_(setup_.target, setup_.preprocessing, "target", TrainingStream::Sampling::kShuffled,
              setup_.context.seed, *setup_.images),
      extra_epochs_(setup_.method->extra_epochs(setup_.context.step)),
      total_iterations_(setup_.num_iterations),
      iteration_(ready_iteration(iteration, setup_)) {
  auto& context = setup_.context;
  iteration_.set_losses(
      [this, &context](const methods::AdaptationBatch& batch, const std::string& phase) {
        context.phase = phase;
        return setup_.method->compute_losses(batch, context);
      });
  if (total_iterations_ > 0) {
    context.clock_tick =
        static_cast<double>(setup_.recipe.iterations) / static_cast<double>(total_iterations_);
  }
  context.num_epochs = extra_epochs_ + setup_.recipe.epochs;
  context.batch_size = setup_.recipe.batch_size;
  cache_predictions();
}

// A capture at the end of an epoch and pseudo-labels at the start of the next need the same
// predictions. They are checked, too: the last update of an epoch may have broken the network
// although the losses, computed before it, were finite.
void StepTrainer::cache_predictions() {
  auto compute = std::move(setup_.context.predict_target);
  setup_.context.predict_target = [this, compute](methods::ModelChoice choice) {
    if (choice != methods::ModelChoice::kCurrent) return compute(choice);
    if (!predictions_) {
      predictions_ = compute(choice);
      if (models::find_not_finite({{"features", predictions_->features},
                                   {"probabilities", predictions_->probabilities}})) {
        check_finite();  // Names the weight.
        refuse_numbers("the network's output for an image is");
      }
    }
    return *predictions_;
  };
}

bool StepTrainer::counts_iterations(int64_t epoch) const {
  return total_iterations_ > 0 && epoch >= extra_epochs_;
}

// Depends on the method's plan, which is a function of the epoch's number alone, so that past
// epochs have a range, too.
EpochRange StepTrainer::range_of(int64_t epoch) const {
  EpochRange range{.step = setup_.context.step, .epoch = epoch};
  if (counts_iterations(epoch)) {
    const int64_t round = epoch - extra_epochs_, rounds = setup_.recipe.epochs;
    range.first = total_iterations_ * round / rounds;
    range.count = total_iterations_ * (round + 1) / rounds - range.first;
    range.endless = true;
    return range;
  }
  auto context = setup_.context;
  context.epoch = epoch;
  const auto plan = setup_.method->plan_epoch(context);
  TORCH_CHECK(plan.source || plan.target, "an epoch without images");
  range.count = std::numeric_limits<int64_t>::max();
  const int64_t batch_size = setup_.recipe.batch_size;
  if (plan.source) range.count = std::min(range.count, source_.pass_length(batch_size));
  if (plan.target) range.count = std::min(range.count, target_.pass_length(batch_size));
  return range;
}

void StepTrainer::update_context() {
  auto& context = setup_.context;
  const auto as_double = [](int64_t count) { return static_cast<double>(count); };
  context.epoch = position_.epoch;
  context.iteration = position_.iteration;
  context.step_iteration = epoch_begin_ + position_.iteration;
  context.clock = as_double(context.step_iteration) * context.clock_tick;
  if (counts_iterations(position_.epoch)) {
    context.step_iterations = total_iterations_;
    context.progress = as_double(context.step_iteration) / as_double(total_iterations_);
  } else {
    context.step_iterations = context.num_iterations * setup_.recipe.epochs;
    context.progress = (as_double(position_.epoch) +
                        as_double(position_.iteration) / as_double(context.num_iterations)) /
                       as_double(context.num_epochs);
  }
}

void StepTrainer::run(state::EventLog& events, const std::function<void()>& checkpoint) {
  const ScopeTimer timer("training the step");
  if (!has_begun()) begin();
  if (auto* const ranks = setup_.compute.ranks.get()) {
    distributed::check_agreement(ranks, "decisions about the step", setup_.method->save());
  }
  if (!was_accepted_) {
    position_ = {setup_.context.num_epochs, 0};
    setup_.network->eval();
    return;
  }
  for (int64_t epoch = extra_epochs_; epoch < position_.epoch; ++epoch) {
    epoch_begin_ += range_of(epoch).count;
  }
  while (!is_done()) train_epoch(events, checkpoint);
  update_context();
  checkup_.conclude(setup_.context);  // May be interrupted: the method has not ended the step yet.
  setup_.method->end_step(setup_.context);
  setup_.network->eval();
}

// Added by the method before the first step, with random weights.
bool StepTrainer::has_untrained_layers() const {
  return setup_.context.step == 0 && (extra_epochs_ > 0 || !setup_.network->neck_layout().empty());
}

void StepTrainer::begin() {
  const auto& context = setup_.context;
  setup_.method->begin_step(context);
  checkup_.examine(context, *setup_.method);
  const auto& health = *checkup_.health();
  was_accepted_ = checkup_.accepts(setup_.on_doubt, context.step);
  if (!was_accepted_ && has_untrained_layers()) {
    throw InputError(fmt::format(
        "step 1 is {}: {}; this method has layers that only its first step trains, so the step "
        "cannot be left out (--on-doubt adapt trains on it all the same)",
        adaptation::verdict_word(health.verdict), health.reason));
  }
  const auto text =
      fmt::format("step {} is {}: {}{}", context.step + 1, adaptation::verdict_word(health.verdict),
                  health.reason, was_accepted_ ? "" : "; the network stays as it was");
  if (!distributed::is_first(setup_.compute)) return;
  health.verdict == adaptation::Verdict::kGood ? log_info(text) : log_warning(text);
}

void StepTrainer::train_epoch(state::EventLog& events, const std::function<void()>& checkpoint) {
  const Stopwatch watch;
  auto& context = setup_.context;
  const auto range = range_of(position_.epoch);
  context.num_iterations = range.count;
  update_context();
  const auto plan = setup_.method->plan_epoch(context);
  expect_batch(plan);
  if (position_.iteration == 0) setup_.method->begin_epoch(context);
  setup_.network->train();
  if (const auto extra = setup_.method->auxiliary_modules()) extra->train();

  EpochFeeds feeds(source_, target_, plan, range, context.batch_size, position_.iteration);
  Progress progress(fmt::format("step {}, epoch {}/{}", context.step + 1, position_.epoch + 1,
                                context.num_epochs),
                    context.num_iterations, "iterations");
  progress.set_further((context.num_epochs - position_.epoch - 1) * context.num_iterations);
  // Of the previous epoch: reading those of this one would synchronise with a GPU.
  const auto note = list_losses(losses_, /*decimals=*/2);
  int64_t images = 0;
  double data_s = 0;  // How long the host waited for images.
  while (position_.iteration < context.num_iterations) {
    const Stopwatch waiting;
    auto batch = feeds.next();
    data_s += waiting.seconds();
    update_context();
    images += train_iteration(std::move(batch));
    progress.update(++position_.iteration, note);
    if (position_.iteration < context.num_iterations) checkpoint();
  }
  // No sums if training was stopped between the report and the end of the epoch.
  if (!iteration_.sums().empty()) report_epoch(events, images, watch, data_s);
  end_epoch(range);
  checkpoint();
}

void StepTrainer::end_epoch(const EpochRange& range) {
  const auto name_prototypes = [this] {
    if (auto* memory = setup_.method->memory()) {
      memory->name_images([this](int64_t id) { return setup_.target.store->sample(id).path; });
    }
  };
  try {
    setup_.method->end_epoch(setup_.context);
  } catch (const Interrupted&) {
    name_prototypes();  // Those captured so far: a checkpoint follows.
    throw;
  }
  name_prototypes();
  if (position_.epoch >= extra_epochs_) epoch_begin_ += range.count;
  position_ = {position_.epoch + 1, 0};
}

// cuDNN selects algorithms per batch size. In a short epoch that takes longer than to compute
// as many images as later epochs have.
void StepTrainer::expect_batch(const methods::EpochPlan& plan) {
  constexpr int64_t kShortEpoch = 16;
  const auto& context = setup_.context;
  if (plan.replayed == 0 || context.num_iterations > kShortEpoch) return;
  setup_.network->backbone()->expect_batch(plan.images(context.batch_size));
}

// Returns the number of images, replayed ones included.
int64_t StepTrainer::train_iteration(methods::AdaptationBatch batch) {
  const auto& context = setup_.context;
  // Dropout uses LibTorch's own generators: seeded by position, like every random choice.
  at::manual_seed(RandomStream(context.seed, "iteration", static_cast<uint64_t>(context.step),
                               static_cast<uint64_t>(context.epoch),
                               static_cast<uint64_t>(context.iteration))());
  batch.inputs = setup_.method->prepare(batch, context);
  int64_t images = 0;
  for (const auto& [name, tensor] : batch.tensors()) {
    if (tensor->dim() == 4) images += tensor->size(0);
  }
  predictions_.reset();  // The forward pass changes batch statistics.
  iteration_.run(std::move(batch), lr_scale(setup_.recipe, context.clock),
                 setup_.method->phases(context));
  predictions_.reset();
  return images;
}

void StepTrainer::report_epoch(state::EventLog& events, int64_t images, const Stopwatch& watch,
                               double data_s) {
  const auto& context = setup_.context;
  losses_ = iteration_.take_means();
  std::vector<state::EventField> fields = {{"step", context.step + 1},
                                           {"epoch", position_.epoch + 1}};
  for (const auto& [name, value] : losses_) {
    if (!std::isfinite(value)) refuse_numbers(fmt::format("the loss term \"{}\" is", name));
    fields.emplace_back("loss." + name, value);
  }
  // A GPU is done with the epoch only now that the losses have been read.
  const double seconds = watch.seconds(), images_per_s = static_cast<double>(images) / seconds;
  fields.emplace_back("images_per_s", images_per_s);
  fields.emplace_back("seconds", seconds);
  fields.emplace_back("data_s", data_s);
  log_step(fmt::format("step {}, epoch {}/{}: {}; {:.0f} images/s", context.step + 1,
                       position_.epoch + 1, context.num_epochs,
                       list_losses(losses_, /*decimals=*/4), images_per_s));
  events.write("adapt_epoch", fields);
}

}  // namespace proca::training
