#include "step_trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/core/progress.h"
#include "proca/core/stopwatch.h"
#include "proca/engine/image_tensors.h"
#include "proca/models/load_weights.h"

namespace proca::engine {
namespace {

std::vector<torch::Tensor> trained_parameters(const StepMaterial& material) {
  auto parameters = material.network->parameters();
  if (const auto extra = material.method->auxiliary_modules()) {
    for (const auto& parameter : extra->parameters()) parameters.push_back(parameter);
  }
  return parameters;
}

// The batches from `first` on, at most `count` in all.
data::Batches slice(const data::Batches& batches, int64_t first, int64_t count) {
  return {batches.begin() + first, batches.begin() + count};
}

std::string list_losses(const std::map<std::string, double>& losses) {
  std::string text;
  for (const auto& [name, value] : losses) {
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

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

std::map<std::string, torch::Tensor> with_prefix(const std::map<std::string, torch::Tensor>& state,
                                                 const std::string& prefix) {
  std::map<std::string, torch::Tensor> result;
  for (const auto& [name, tensor] : state) result[prefix + name] = tensor;
  return result;
}

std::map<std::string, torch::Tensor> part_of(const std::map<std::string, torch::Tensor>& state,
                                             const std::string& prefix) {
  std::map<std::string, torch::Tensor> result;
  for (const auto& [name, tensor] : state) {
    if (name.starts_with(prefix)) result[name.substr(prefix.size())] = tensor;
  }
  return result;
}

StepTrainer::StepTrainer(StepMaterial material)
    : material_(std::move(material)),
      optimizer_(
          {{trained_parameters(material_), material_.recipe.lr, material_.recipe.weight_decay}},
          material_.recipe.momentum) {
  material_.context.num_epochs = material_.recipe.epochs;
  material_.context.batch_size = material_.recipe.batch_size;
}

std::map<std::string, torch::Tensor> StepTrainer::state() const {
  std::map<std::string, torch::Tensor> sums;
  for (const auto& [name, mean] : sums_) {
    sums[name] = torch::stack(
        {mean.sum.cpu(), torch::tensor(static_cast<double>(mean.count), torch::kFloat64)});
  }
  std::map<std::string, torch::Tensor> state;
  state.merge(with_prefix(material_.network->state(), "network."));
  state.merge(with_prefix(optimizer_.state(), "optimizer."));
  state.merge(with_prefix(module_state(material_.method->auxiliary_modules().get()), "auxiliary."));
  state.merge(with_prefix(material_.method->save(), "method."));
  state.merge(with_prefix(sums, "losses."));
  return state;
}

void StepTrainer::load(const std::map<std::string, torch::Tensor>& state, StepPosition position) {
  models::load_weights(material_.network, {part_of(state, "network."), {}, "training.safetensors"},
                       models::HeadPolicy::kMustMatch);
  optimizer_.load_state(part_of(state, "optimizer."));
  load_module_state(material_.method->auxiliary_modules().get(), part_of(state, "auxiliary."));
  material_.method->load(part_of(state, "method."));
  for (const auto& [name, saved] : part_of(state, "losses.")) {
    sums_[name] = {saved[0].to(material_.device), saved[1].item<int64_t>()};
  }
  position_ = position;
}

void StepTrainer::update_progress() {
  auto& context = material_.context;
  context.epoch = position_.epoch;
  context.iteration = position_.iteration;
  context.progress =
      (static_cast<double>(position_.epoch) +
       static_cast<double>(position_.iteration) / static_cast<double>(context.num_iterations)) /
      static_cast<double>(context.num_epochs);
}

void StepTrainer::run(EventLog& events, const std::function<void()>& checkpoint) {
  if (!has_begun()) material_.method->begin_step(material_.context);
  while (position_.epoch < material_.recipe.epochs) train_epoch(events, checkpoint);
  update_progress();
  material_.method->end_step(material_.context);
  material_.network->eval();
}

void StepTrainer::train_epoch(EventLog& events, const std::function<void()>& checkpoint) {
  const Stopwatch watch;
  auto& context = material_.context;
  const auto batches_of = [&](const data::ImageStore& store, std::string_view kind) {
    return data::training_batches(store.size(), material_.recipe.batch_size, context.seed,
                                  fmt::format("{} step {}", kind, context.step), position_.epoch);
  };
  const auto source_batches = batches_of(*material_.source, "source");
  const auto target_batches = batches_of(*material_.target, "target");
  context.num_iterations =
      static_cast<int64_t>(std::min(source_batches.size(), target_batches.size()));
  update_progress();
  if (position_.iteration == 0) material_.method->begin_epoch(context);
  material_.network->train();
  if (const auto extra = material_.method->auxiliary_modules()) extra->train();

  const auto loader_of = [&](const data::ImageStore& store, const data::Batches& batches) {
    return std::make_unique<data::BatchLoader>(
        store, slice(batches, position_.iteration, context.num_iterations),
        material_.preprocessing.centre_crop(), context.seed, position_.epoch, material_.threads);
  };
  const auto source = loader_of(*material_.source, source_batches);
  const auto target = loader_of(*material_.target, target_batches);
  Progress progress(fmt::format("step {}, epoch {}/{}", context.step + 1, position_.epoch + 1,
                                context.num_epochs),
                    context.num_iterations, "iterations");
  int64_t images = 0;
  while (position_.iteration < context.num_iterations) {
    auto source_batch = source->next(), target_batch = target->next();
    images += source_batch->size() + target_batch->size();
    update_progress();
    train_iteration(std::move(*source_batch), std::move(*target_batch));
    progress.update(++position_.iteration);
    if (position_.iteration < context.num_iterations) checkpoint();
  }
  // Nothing to report when a stop came after the report, before the epoch's end.
  if (!sums_.empty()) report_epoch(events, static_cast<double>(images) / watch.seconds());
  material_.method->end_epoch(context);
  position_ = {position_.epoch + 1, 0};
  checkpoint();
}

void StepTrainer::train_iteration(data::PixelBatch source, data::PixelBatch target) {
  const auto source_batch =
      to_tensors(std::move(source), material_.preprocessing, material_.device);
  const auto target_batch =
      to_tensors(std::move(target), material_.preprocessing, material_.device);
  const auto terms = material_.method->compute_losses(
      {source_batch.images, source_batch.labels, target_batch.images, target_batch.indexes},
      material_.context);
  torch::Tensor total;
  for (const auto& term : terms) {
    auto& mean = sums_[std::string(term.name)];
    const auto value = term.value.detach().to(torch::kFloat64);
    mean.sum = mean.sum.defined() ? mean.sum + value : value;
    ++mean.count;
    if (term.weight == 0) continue;  // Watched, not minimised.
    const auto part = term.value * term.weight;
    total = total.defined() ? total + part : part;
  }
  if (!total.defined()) return;
  optimizer_.zero_grad();
  total.backward();
  optimizer_.step();
}

void StepTrainer::report_epoch(EventLog& events, double images_per_s) {
  const auto& context = material_.context;
  losses_.clear();
  std::vector<EventField> fields = {{"step", context.step + 1}, {"epoch", position_.epoch + 1}};
  for (const auto& [name, mean] : sums_) {
    const double value = mean.sum.item<double>() / static_cast<double>(mean.count);
    if (!std::isfinite(value)) {
      throw Error(fmt::format(
          "step {}, epoch {}: the loss term \"{}\" is no longer a number; the model of the step "
          "before is kept; try a lower --lr",
          context.step + 1, position_.epoch + 1, name));
    }
    losses_[name] = value;
    fields.emplace_back("loss." + name, value);
  }
  sums_.clear();
  fields.emplace_back("images_per_s", images_per_s);
  log_info(fmt::format("step {}, epoch {}/{}: {}; {:.0f} images/s", context.step + 1,
                       position_.epoch + 1, context.num_epochs, list_losses(losses_),
                       images_per_s));
  events.write("adapt_epoch", fields);
}

}  // namespace proca::engine
