#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include "commands/commands.h"
#include "core/counted.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
#include "engine/step_identity.h"
#include "proca/compute/ranks.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/engine/adapter.h"
#include "state/history/copy_state.h"
#include "state/rank_folder.h"

namespace proca::app {
namespace {

struct AdaptCommand {
  std::string state;
  std::string target;
  std::string out;
  bool again = false;
  bool discard_unfinished = false;
  engine::AdaptOptions adapt;
};

void print(const engine::StepOutcome& outcome, const engine::Adapter& adapter) {
  const auto& names = adapter.manifest().model.class_names;
  std::vector<std::string> detected;
  for (const int64_t label : outcome.detected) {
    detected.push_back(names[static_cast<size_t>(label)]);
  }
  std::cout << fmt::format("step {}: {} to {} in {:.1f} s\n", outcome.step,
                           outcome.trained ? "adapted" : "not adapted",
                           counted(outcome.num_images, "image"), outcome.seconds);
  if (outcome.health) {
    std::cout << fmt::format("verdict: {}: {}\n", adaptation::verdict_word(outcome.health->verdict),
                             outcome.health->reason);
  }
  if (!detected.empty()) {
    std::cout << fmt::format("classes detected: {} of {}: {}\n", detected.size(), names.size(),
                             fmt::join(detected, ", "));
  }
  const auto adapted = adapter.manifest().adapted_classes.size();
  // DANN and others label no image, and so do not know the classes.
  if (adapted > 0) {
    std::cout << fmt::format("classes adapted so far: {} of {}\n", adapted, names.size());
  }
}

// With --out a copy of the state goes on, and --state stays as it is. Returns whether the copy has
// its step already.
bool copy_state(const AdaptCommand& options) {
  const auto& ranks = options.adapt.compute.ranks;
  auto is_finished = torch::zeros({1}, torch::kInt64);
  if (distributed::is_first(options.adapt.compute)) {
    const auto progress = state::copy_for_step(options.state, options.out);
    is_finished.fill_(progress == state::CopyProgress::kFinished ? 1 : 0);
  }
  if (ranks) ranks->broadcast(is_finished);
  return is_finished.item<int64_t>() != 0;
}

engine::SameImages same_images(const AdaptCommand& options, bool has_its_step) {
  if (has_its_step) return engine::SameImages::kRequire;
  return options.again ? engine::SameImages::kAdaptAgain : engine::SameImages::kSkip;
}

void run_adapt(AdaptCommand& options, const OptionSet& set) {
  if (options.adapt.method.names().size() > 1) {
    throw InvalidOption("--method: a state has one method; proca run compares several");
  }
  auto& compute = options.adapt.compute;
  distributed::join_ranks(compute);
  distributed::check_same_options(compute.ranks.get(), set);
  compute::set_up_libtorch(compute);
  if (!distributed::is_first(compute)) options.adapt.tensorboard.clear();
  const bool has_its_step = !options.out.empty() && copy_state(options);
  const state::RankFolder state(compute.ranks, options.out.empty() ? options.state : options.out);
  // Only now: the other ranks have the state since they have its copy.
  auto& method = options.adapt.method;
  method.follow(engine::method_of_state(state.path()));
  if (distributed::is_first(compute)) {
    for (const auto& sentence : method.idle_options(method.resolve())) log_warning(sentence);
  }
  engine::Adapter adapter(options.adapt, state.path());
  const std::shared_ptr target =
      data::open_images(std::filesystem::path(options.target),
                        {.labels = data::Labels::kIgnored, .root = options.adapt.load.root});
  const auto outcome = adapter.adapt(
      target, same_images(options, has_its_step),
      options.discard_unfinished ? engine::Unfinished::kDiscard : engine::Unfinished::kRefuse);
  if (!distributed::is_first(compute)) return;
  if (outcome.already_done) {
    std::cout << fmt::format(
        "step {} already adapted to these images; nothing to do (--again adapts once more)\n",
        outcome.step);
    return;
  }
  print(outcome, adapter);
}

}  // namespace

Command adapt_command() {
  return {"adapt", "one time step: adapt a model to unlabelled images", [](OptionSet& set) {
            const auto options = std::make_shared<AdaptCommand>();
            set.bind("state", options->state, "state directory to take one step further", "DIR");
            set.require();
            set.often_used();
            set.bind("target", options->target, "unlabelled images; labels, if any, are ignored",
                     "PATH");
            set.require();
            set.often_used();
            set.bind("out", options->out,
                     "folder for the adapted state, which leaves --state as it is", "DIR");
            set.bind("again", options->again, "also if the last step had the same images");
            set.bind("discard-unfinished", options->discard_unfinished,
                     "forget a step on other images or options that was cut off");
            options->adapt.bind(set);
            return [options, &set] { run_adapt(*options, set); };
          }};
}

}  // namespace proca::app
