#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "proca/methods/method.h"
#include "support/fake_step.h"
#include "training/adam.h"

namespace proca::test {

/// A network, a method on it and the method's own optimisers.
struct MethodOnNetwork {
  models::ClassifierNetwork network{nullptr};
  std::unique_ptr<methods::Method> method;
  std::map<std::string, training::Adam> optimizers = {};
};

/// Builds a method on a small network. Of `values` those are set that the method has.
inline MethodOnNetwork build_method(
    const methods::MethodSpec& spec, int64_t num_classes,
    const std::vector<std::pair<std::string, std::string>>& values = {}) {
  MethodOnNetwork built;
  built.network = small_network(num_classes);
  OptionSet options;
  const auto factory = spec.configure(options);
  for (const auto& [name, value] : values) {
    if (options.find(name) != nullptr) options.assign(name, {value});
  }
  built.method = factory(built.network, 0);
  for (auto& [name, parameters, lr] : built.method->optimizers()) {
    built.optimizers.emplace(name, training::Adam(parameters, lr));
  }
  return built;
}

/// Copies parameters and buffers of everything trained, optimisers, memory and what the
/// method saves: what the engine does with a checkpoint.
inline void copy_state(MethodOnNetwork& from, MethodOnNetwork& to) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : to.network->state()) {
    torch::Tensor(tensor).copy_(from.network->state().at(name));
  }
  if (const auto extra = to.method->auxiliary_modules()) {
    const auto saved = from.method->auxiliary_modules();
    for (auto& item : extra->named_parameters()) {
      item.value().copy_(saved->named_parameters()[item.key()]);
    }
    for (auto& item : extra->named_buffers()) {
      item.value().copy_(saved->named_buffers()[item.key()]);
    }
  }
  for (auto& [name, adam] : to.optimizers) adam.load_state(from.optimizers.at(name).state());
  if (auto* memory = to.method->memory()) {
    auto& saved = *from.method->memory();
    saved.name_images([](int64_t id) { return std::to_string(id); });
    memory->load(saved.save());
  }
  std::map<std::string, torch::Tensor> saved;
  for (const auto& [name, tensor] : from.method->save()) saved[name] = tensor.clone();
  to.method->load(saved);
}

/// Progress of a run.
struct RunPosition {
  int64_t step = 0, epoch = 0, iteration = 0;
};

/// Calls a method's hooks step by step as the engine does, with plain gradient descent (which
/// has no state) in place of the recipe's optimiser.
class MethodRun {
 public:
  static constexpr int64_t kIterations = 2;  // per epoch

  struct Options {
    int64_t epochs = 5;  ///< beside the method's extra ones
    int64_t batch_size = 4;
    double lr = 0;           ///< 0: losses are differentiated, but nothing is trained
    double clock_tick = 1;   ///< of the context
    RunPosition start = {};  ///< an iteration of an epoch that has begun; {0, 0, 0} is the start
  };

  /// Called after every iteration, with the gradients still on the parameters.
  using Watcher =
      std::function<void(const methods::StepContext&, const std::vector<methods::LossTerm>&)>;

  MethodRun(MethodOnNetwork& built, FakeStep& images, const Options& options)
      : built_(built), images_(images), options_(options) {
    at::set_num_threads(1);  // Tensors as small as these are done sooner by one.
  }

  /// Changes the context before a hook is called.
  std::function<void(methods::StepContext&)> adjust = [](methods::StepContext&) {};
  /// Called after every iteration.
  Watcher watch = [](const methods::StepContext&, const std::vector<methods::LossTerm>&) {};
  /// Called before every iteration, with what it is given.
  std::function<void(const methods::AdaptationBatch&, const methods::StepContext&)> watch_batch =
      [](const methods::AdaptationBatch&, const methods::StepContext&) {};
  /// Ends the run after an iteration.
  std::function<bool(const methods::StepContext&)> stop = [](const methods::StepContext&) {
    return false;
  };

  /// Goes through a step; false if `stop` ended it.
  bool run_step(int64_t step) {
    auto& method = *built_.method;
    auto base = images_.context();
    base.step = step;
    base.num_epochs = method.extra_epochs(step) + options_.epochs;
    base.num_iterations = kIterations;
    base.batch_size = options_.batch_size;
    base.clock_tick = options_.clock_tick;
    const auto start = options_.start;
    const bool resumed = start.step == step && (start.epoch > 0 || start.iteration > 0);
    auto context = at(base, resumed ? start.epoch : 0, resumed ? start.iteration : 0);
    if (!resumed) {
      for (auto& [name, adam] : built_.optimizers) adam.reset();
      method.begin_step(context);
    }
    while (context.epoch < context.num_epochs) {
      const auto plan = method.plan_epoch(context);
      if (context.iteration == 0) method.begin_epoch(context);
      built_.network->train();
      for (; context.iteration < kIterations; ++context.iteration) {
        count(context);
        if (!iterate(plan, context)) return false;
      }
      method.end_epoch(context);
      context = at(base, context.epoch + 1, 0);
    }
    method.end_step(context);
    return true;
  }

 private:
  methods::StepContext at(const methods::StepContext& base, int64_t epoch, int64_t iteration) {
    auto context = base;
    context.epoch = epoch;
    context.iteration = iteration;
    count(context);
    adjust(context);
    return context;
  }

  static void count(methods::StepContext& context) {
    context.step_iteration = context.epoch * kIterations + context.iteration;
    context.clock = static_cast<double>(context.step_iteration) * context.clock_tick;
    context.progress = static_cast<double>(context.step_iteration) /
                       static_cast<double>(context.num_epochs * kIterations);
  }

  bool iterate(const methods::EpochPlan& plan, const methods::StepContext& context) {
    torch::manual_seed(context.step_iteration);  // Dropout draws from it.
    auto batch = images_.planned_batch(plan, context.iteration, options_.batch_size);
    batch.inputs = built_.method->prepare(batch, context);
    watch_batch(batch, context);
    std::vector<methods::LossTerm> terms;
    auto of_phase = context;
    for (const auto& phase : built_.method->phases(context)) {
      of_phase.phase = phase;
      torch::Tensor total;
      for (const auto& term : built_.method->compute_losses(batch, of_phase)) {
        terms.push_back(term);
        if (term.weight == 0) continue;
        const auto part = term.value * term.weight;
        total = total.defined() ? total + part : part;
      }
      if (!total.defined()) continue;
      phase.empty() ? total.backward() : built_.optimizers.at(phase).minimise(total);
    }
    watch(context, terms);
    auto parameters = built_.network->parameters();
    if (const auto extra = built_.method->auxiliary_modules()) {
      for (const auto& parameter : extra->parameters()) parameters.push_back(parameter);
    }
    const torch::NoGradGuard no_grad;
    for (auto& parameter : parameters) {
      if (!parameter.grad().defined()) continue;
      if (options_.lr > 0) parameter.add_(parameter.grad(), -options_.lr);
      parameter.mutable_grad() = torch::Tensor();
    }
    return !stop(context);
  }

  MethodOnNetwork& built_;
  FakeStep& images_;
  Options options_;
};

}  // namespace proca::test
