// What a step's training saves, loads and checks.

#include <fmt/format.h>

#include "models/weights/finite_check.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "training/step_trainer.h"

namespace proca::training {

models::NamedTensors StepTrainer::state() const {
  models::NamedTensors sums;
  for (const auto& [name, loss] : iteration_.sums()) {
    sums[name] = torch::stack(
        {loss.sum.cpu(), torch::tensor(static_cast<double>(loss.count), torch::kFloat64)});
  }
  models::NamedTensors state;
  models::put_part(state, "network.", setup_.network->state());
  models::put_part(state, "optimizer.", iteration_.optimizers().state());
  models::put_part(state, "auxiliary.", module_state(setup_.method->auxiliary_modules().get()));
  models::put_part(state, "method.", setup_.method->save());
  models::put_part(state, "losses.", sums);
  models::put_part(state, "health.", checkup_.save());
  return state;
}

void StepTrainer::load(const models::NamedTensors& state, StepPosition position) {
  models::load_weights(setup_.network,
                       {models::part_of(state, "network."), {}, "training.safetensors"},
                       models::HeadPolicy::kMustMatch);
  iteration_.optimizers().load_state(models::part_of(state, "optimizer."));
  load_module_state(setup_.method->auxiliary_modules().get(), models::part_of(state, "auxiliary."));
  setup_.method->load(models::part_of(state, "method."));
  checkup_.load(models::part_of(state, "health."));
  std::map<std::string, TrainingIteration::LossSum> sums;
  for (const auto& [name, saved] : models::part_of(state, "losses.")) {
    sums[name] = {saved[0], saved[1].item<int64_t>()};
  }
  iteration_.set_sums(sums);
  position_ = position;
  predictions_.reset();
}

void StepTrainer::check_finite() const {
  models::NamedTensors sums;
  for (const auto& [name, loss] : iteration_.sums()) sums[name] = loss.sum;
  if (const auto term = models::find_not_finite(sums)) {
    refuse_numbers(fmt::format("the loss term \"{}\" is", *term));
  }
  auto weights = setup_.network->state();
  models::put_part(weights, "auxiliary.", module_state(setup_.method->auxiliary_modules().get()));
  if (const auto weight = models::find_not_finite(weights)) {
    refuse_numbers(fmt::format("a weight of \"{}\" is", *weight));
  }
}

void StepTrainer::refuse_numbers(const std::string& what) const {
  throw Error(
      fmt::format("step {}, epoch {}: {} no longer a number; the last good state is kept; try a "
                  "lower --lr",
                  setup_.context.step + 1, setup_.context.epoch + 1, what));
}

}  // namespace proca::training
