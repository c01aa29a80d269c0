#include "training/step_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/Context.h>
#include <fmt/format.h>

#include "core/progress.h"
#include "core/scope_timer.h"
#include "core/stopwatch.h"
#include "distributed/agreement.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/core/random.h"
#include "proca/models/named_tensors.h"
#include "training/finite_check.h"

namespace proca::training {
namespace {

// Layers of the source model, and those that the method added.
std::vector<ParameterGroup> parameter_groups(const StepMaterial& material) {
  const auto& recipe = material.recipe;
  ParameterGroup source{material.network->backbone_parameters(), recipe.lr, recipe.weight_decay};
  ParameterGroup added{material.network->neck_parameters(), recipe.lr * recipe.added_lr_factor,
                       recipe.weight_decay};
  const auto append = [](ParameterGroup& group, const std::vector<torch::Tensor>& parameters) {
    group.parameters.insert(group.parameters.end(), parameters.begin(), parameters.end());
  };
  // Behind a neck the classifier is a new one.
  append(added.parameters.empty() ? source : added, material.network->head_parameters());
  if (const auto extra = material.method->auxiliary_modules()) append(added, extra->parameters());
  return {source, added};
}

Momentum momentum_of(const methods::TrainingRecipe& recipe) {
  return recipe.momentum_kind == methods::TrainingRecipe::Momentum::kNesterov ? Momentum::kNesterov
                                                                              : Momentum::kClassic;
}

double lr_scale(const methods::TrainingRecipe& recipe, double clock) {
  if (recipe.decay == 0) return 1;
  return std::pow(1 + recipe.decay * std::min(clock, recipe.decay_until), -recipe.decay_power);
}

// A batch as a list, for the iteration that need not know what is what, and back.
TrainingIteration::Tensors tensors_of(methods::AdaptationBatch batch) {
  TrainingIteration::Tensors tensors = {batch.source_images,       batch.source_labels,
                                        batch.target_images,       batch.target_ids,
                                        batch.extra_source_images, batch.extra_source_labels};
  tensors.insert(tensors.end(), batch.prepared.begin(), batch.prepared.end());
  return tensors;
}

methods::AdaptationBatch batch_of(const TrainingIteration::Tensors& tensors) {
  return {tensors.at(0),
          tensors.at(1),
          tensors.at(2),
          tensors.at(3),
          tensors.at(4),
          tensors.at(5),
          {tensors.begin() + 6, tensors.end()}};
}

std::string list_losses(const std::map<std::string, double>& losses, int decimals) {
  std::string text;
  for (const auto& [name, value] : losses) {
    text += fmt::format("{}{} {:.{}f}", text.empty() ? "" : ", ", name, value, decimals);
  }
  return text;
}

// Nothing where there is no feed.
TensorBatch next(BatchFeed* feed) { return feed != nullptr ? feed->next().value() : TensorBatch{}; }

}  // namespace

std::map<std::string, torch::Tensor> module_state(const torch::nn::Module* module) {
  std::map<std::string, torch::Tensor> state;
  if (module == nullptr) return state;
  for (const auto& item : module->named_parameters()) state[item.key()] = item.value();
  for (const auto& item : module->named_buffers()) state[item.key()] = item.value();
  return state;
}

void load_module_state(torch::nn::Module* module,
                       const std::map<std::string, torch::Tensor>& state) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : module_state(module)) {
    const auto saved = state.find(name);
    if (saved == state.end() || saved->second.sizes() != tensor.sizes()) {
      throw InputError(fmt::format("saved modules: {} is missing or has another shape", name));
    }
    torch::Tensor(tensor).copy_(saved->second);
  }
}

TrainingMachine::TrainingMachine(const StepMaterial& material)
    : optimizer(parameter_groups(material), material.recipe.momentum, momentum_of(material.recipe)),
      iteration(optimizer, {}, material.compute, material.device,
                cuda_graph_capturer_for(material.compute, material.device,
                                        material.method->is_repeatable(), "this method")) {
  share_training(iteration, material.network, material.compute);
}

namespace {

// The one at hand as new, if it trains the same parameters.
TrainingMachine& prepare(std::unique_ptr<TrainingMachine>& machine, const StepMaterial& material) {
  if (machine && machine->optimizer.trains(parameter_groups(material))) {
    machine->optimizer.reset();
    machine->iteration.begin_anew();
  } else {
    machine.reset();  // Before the next one needs memory.
    machine = std::make_unique<TrainingMachine>(material);
  }
  return *machine;
}

}  // namespace

StepTrainer::StepTrainer(StepMaterial material, std::unique_ptr<TrainingMachine>& machine)
    : material_(std::move(material)),
      source_(material_.source, material_.preprocessing, "source", material_.recipe.source_sampling,
              material_.context.seed, *material_.images),
      target_(material_.target, material_.preprocessing, "target",
              TrainingStream::Sampling::kShuffled, material_.context.seed, *material_.images),
      extra_epochs_(material_.method->extra_epochs(material_.context.step)),
      total_iterations_(material_.num_iterations),
      machine_(prepare(machine, material_)) {
  machine_.iteration.set_losses([this](const TrainingIteration::Tensors& tensors) {
    return material_.method->compute_losses(batch_of(tensors), material_.context);
  });
  if (total_iterations_ > 0) {
    material_.context.clock_tick =
        static_cast<double>(material_.recipe.iterations) / static_cast<double>(total_iterations_);
  }
  material_.context.num_epochs = extra_epochs_ + material_.recipe.epochs;
  material_.context.batch_size = material_.recipe.batch_size;
  remember_current_view();
}

// A capture at the end of an epoch and labels at the begin of the next ask the same
// question of the same weights.
void StepTrainer::remember_current_view() {
  auto ask = std::move(material_.context.predict_target);
  material_.context.predict_target = [this, ask = std::move(ask)](methods::ModelChoice choice) {
    if (choice != methods::ModelChoice::kCurrent) return ask(choice);
    if (!current_view_) {
      current_view_ = ask(choice);
      check_answers(*current_view_);
    }
    return *current_view_;
  };
}

// The last update of an epoch may have broken the network though the losses, which are of
// the weights before it, were fine.
void StepTrainer::check_answers(const methods::Predictions& view) const {
  if (!find_not_finite({{"features", view.features}, {"probabilities", view.probabilities}}))
    return;
  check_finite();  // It knows which weight.
  refuse_numbers("the network's answer to an image is");
}

void StepTrainer::refuse_numbers(const std::string& what) const {
  throw Error(
      fmt::format("step {}, epoch {}: {} no longer a number; the last good state is kept; try a "
                  "lower --lr",
                  material_.context.step + 1, material_.context.epoch + 1, what));
}

std::map<std::string, torch::Tensor> StepTrainer::state() const {
  std::map<std::string, torch::Tensor> sums;
  for (const auto& [name, loss] : machine_.iteration.sums()) {
    sums[name] = torch::stack(
        {loss.sum.cpu(), torch::tensor(static_cast<double>(loss.count), torch::kFloat64)});
  }
  std::map<std::string, torch::Tensor> state;
  models::put_part(state, "network.", material_.network->state());
  models::put_part(state, "optimizer.", machine_.optimizer.state());
  models::put_part(state, "auxiliary.", module_state(material_.method->auxiliary_modules().get()));
  models::put_part(state, "method.", material_.method->save());
  models::put_part(state, "losses.", sums);
  return state;
}

void StepTrainer::check_finite() const {
  models::NamedTensors sums;
  for (const auto& [name, loss] : machine_.iteration.sums()) sums[name] = loss.sum;
  if (const auto term = find_not_finite(sums)) {
    refuse_numbers(fmt::format("the loss term \"{}\" is", *term));
  }
  models::NamedTensors weights = material_.network->state();
  models::put_part(weights, "auxiliary.",
                   module_state(material_.method->auxiliary_modules().get()));
  if (const auto weight = find_not_finite(weights)) {
    refuse_numbers(fmt::format("a weight of \"{}\" is", *weight));
  }
}

void StepTrainer::load(const std::map<std::string, torch::Tensor>& state, StepPosition position) {
  models::load_weights(material_.network,
                       {models::part_of(state, "network."), {}, "training.safetensors"},
                       models::HeadPolicy::kMustMatch);
  machine_.optimizer.load_state(models::part_of(state, "optimizer."));
  load_module_state(material_.method->auxiliary_modules().get(),
                    models::part_of(state, "auxiliary."));
  material_.method->load(models::part_of(state, "method."));
  std::map<std::string, TrainingIteration::LossSum> sums;
  for (const auto& [name, saved] : models::part_of(state, "losses.")) {
    sums[name] = {saved[0], saved[1].item<int64_t>()};
  }
  machine_.iteration.set_sums(sums);
  position_ = position;
  current_view_.reset();
}

bool StepTrainer::counts_iterations(int64_t epoch) const {
  return total_iterations_ > 0 && epoch >= extra_epochs_;
}

// An epoch's place in the step. What it consists of depends on the method's plan, and
// that on the epoch's number alone, so that it can be asked about epochs gone by.
EpochStretch StepTrainer::stretch_of(int64_t epoch) const {
  EpochStretch stretch{.step = material_.context.step, .epoch = epoch};
  if (counts_iterations(epoch)) {
    const int64_t round = epoch - extra_epochs_, rounds = material_.recipe.epochs;
    stretch.first = total_iterations_ * round / rounds;
    stretch.count = total_iterations_ * (round + 1) / rounds - stretch.first;
    stretch.endless = true;
    return stretch;
  }
  auto context = material_.context;
  context.epoch = epoch;
  const auto plan = material_.method->plan_epoch(context);
  TORCH_CHECK(plan.source || plan.target, "an epoch without images");
  stretch.count = std::numeric_limits<int64_t>::max();
  const int64_t batch_size = material_.recipe.batch_size;
  if (plan.source) stretch.count = std::min(stretch.count, source_.pass_length(batch_size));
  if (plan.target) stretch.count = std::min(stretch.count, target_.pass_length(batch_size));
  return stretch;
}

void StepTrainer::update_progress() {
  auto& context = material_.context;
  context.epoch = position_.epoch;
  context.iteration = position_.iteration;
  context.step_iteration = epoch_begin_ + position_.iteration;
  context.step_iterations = counts_iterations(position_.epoch)
                                ? total_iterations_
                                : context.num_iterations * material_.recipe.epochs;
  context.clock = static_cast<double>(context.step_iteration) * context.clock_tick;
  context.progress =
      counts_iterations(position_.epoch)
          ? static_cast<double>(context.step_iteration) / static_cast<double>(total_iterations_)
          : (static_cast<double>(position_.epoch) +
             static_cast<double>(position_.iteration) /
                 static_cast<double>(context.num_iterations)) /
                static_cast<double>(context.num_epochs);
}

void StepTrainer::run(state::EventLog& events, const std::function<void()>& checkpoint) {
  const ScopeTimer timer("training the step");
  if (!has_begun()) material_.method->begin_step(material_.context);
  if (auto* const ranks = material_.compute.ranks.get()) {
    distributed::check_agreement(ranks, "opinion of the step's images", material_.method->save());
  }
  for (int64_t epoch = extra_epochs_; epoch < position_.epoch; ++epoch) {
    epoch_begin_ += stretch_of(epoch).count;
  }
  while (position_.epoch < material_.context.num_epochs) train_epoch(events, checkpoint);
  update_progress();
  material_.method->end_step(material_.context);
  material_.network->eval();
}

void StepTrainer::train_epoch(state::EventLog& events, const std::function<void()>& checkpoint) {
  const Stopwatch watch;
  auto& context = material_.context;
  const auto stretch = stretch_of(position_.epoch);
  context.num_iterations = stretch.count;
  update_progress();
  const auto plan = material_.method->plan_epoch(context);
  expect_own_images(plan);
  if (position_.iteration == 0) material_.method->begin_epoch(context);
  material_.network->train();
  if (const auto extra = material_.method->auxiliary_modules()) extra->train();

  const int64_t done = position_.iteration, batch_size = context.batch_size;
  const auto source = plan.source ? source_.load(stretch, batch_size, done) : nullptr;
  const auto target = plan.target ? target_.load(stretch, batch_size, done) : nullptr;
  // A stream of its own for every epoch, since the number may change with each.
  const TrainingStream more(material_.source, material_.preprocessing,
                            fmt::format("extra source, epoch {}", position_.epoch),
                            TrainingStream::Sampling::kShuffled, context.seed, *material_.images);
  const EpochStretch from_zero{
      .step = stretch.step, .epoch = stretch.epoch, .count = stretch.count, .endless = true};
  const auto extra_source =
      plan.extra_source > 0 ? more.load(from_zero, plan.extra_source, done) : nullptr;
  Progress progress(fmt::format("step {}, epoch {}/{}", context.step + 1, position_.epoch + 1,
                                context.num_epochs),
                    context.num_iterations, "iterations");
  // Of the epoch before: reading those of this one would make a GPU wait.
  const auto note = list_losses(losses_, /*decimals=*/2);
  int64_t images = 0;
  double data_s = 0;  // How long the host waited for images.
  while (position_.iteration < context.num_iterations) {
    const Stopwatch waiting;
    const auto source_batch = next(source.get()), target_batch = next(target.get()),
               extra_batch = next(extra_source.get());
    data_s += waiting.seconds();
    update_progress();
    images += train_iteration({source_batch.images, source_batch.labels, target_batch.images,
                               target_batch.indexes, extra_batch.images, extra_batch.labels});
    progress.update(++position_.iteration, note);
    if (position_.iteration < context.num_iterations) checkpoint();
  }
  // Nothing to report when a stop came after the report, before the epoch's end.
  if (!machine_.iteration.sums().empty()) report_epoch(events, images, watch, data_s);
  material_.method->end_epoch(context);
  if (position_.epoch >= extra_epochs_) epoch_begin_ += stretch.count;
  position_ = {position_.epoch + 1, 0};
  checkpoint();
}

// A GPU's library takes a while to find out how to do a number of images that is new to it.
// In a short epoch that is longer than it takes to do as many as will come later.
void StepTrainer::expect_own_images(const methods::EpochPlan& plan) {
  constexpr int64_t kShortEpoch = 16;
  const auto& context = material_.context;
  if (plan.own_images == 0 || context.num_iterations > kShortEpoch) return;
  material_.network->backbone()->expect_batch(plan.images(context.batch_size));
}

// Returns how many images it was about, replayed ones included.
int64_t StepTrainer::train_iteration(methods::AdaptationBatch batch) {
  const auto& context = material_.context;
  // Dropout draws from LibTorch's own generators: like all else, a function of the place.
  at::manual_seed(RandomStream(context.seed, "iteration", static_cast<uint64_t>(context.step),
                               static_cast<uint64_t>(context.epoch),
                               static_cast<uint64_t>(context.iteration))());
  batch.prepared = material_.method->prepare(batch, context);
  const auto tensors = tensors_of(std::move(batch));
  current_view_.reset();  // The losses' forward pass moves batch statistics.
  machine_.iteration.run(tensors, lr_scale(material_.recipe, context.clock));
  current_view_.reset();
  int64_t images = 0;
  for (const auto& tensor : tensors) {
    if (tensor.defined() && tensor.dim() == 4) images += tensor.size(0);
  }
  return images;
}

void StepTrainer::report_epoch(state::EventLog& events, int64_t images, const Stopwatch& watch,
                               double data_s) {
  const auto& context = material_.context;
  losses_ = machine_.iteration.take_means();
  std::vector<state::EventField> fields = {{"step", context.step + 1},
                                           {"epoch", position_.epoch + 1}};
  for (const auto& [name, value] : losses_) {
    if (!std::isfinite(value)) refuse_numbers(fmt::format("the loss term \"{}\" is", name));
    fields.emplace_back("loss." + name, value);
  }
  // Only now that the losses have been read is a GPU done with the epoch.
  const double seconds = watch.seconds(), images_per_s = static_cast<double>(images) / seconds;
  fields.emplace_back("images_per_s", images_per_s);
  fields.emplace_back("seconds", seconds);
  fields.emplace_back("data_s", data_s);
  log_info(fmt::format("step {}, epoch {}/{}: {}; {:.0f} images/s", context.step + 1,
                       position_.epoch + 1, context.num_epochs,
                       list_losses(losses_, /*decimals=*/4), images_per_s));
  events.write("adapt_epoch", fields);
}

}  // namespace proca::training
