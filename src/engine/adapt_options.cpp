#include "proca/engine/adapter.h"

#include <algorithm>
#include <cmath>

namespace proca::engine {

void AdaptOptions::bind_training(OptionSet& options) {
  method.bind(options);
  options.bind_auto<int64_t>(
      "epochs", epochs, "passes over the images of a step; auto = the method's own", 1, 1'000'000);
  options.often_used();
  options.bind_auto<int64_t>("batch-size", batch_size,
                             "images of each kind per iteration; auto = the method's own", 2,
                             65536);
  options.often_used();
  options.bind_auto<int64_t>(
      "iterations", iterations,
      "per step, for methods that count them; auto = the method's own, 0 = count epochs", 0,
      1'000'000'000);
  options.bind("budget", budget, "how much of the iterations to do, for methods that count them",
               1e-6, 1e3);
  options.bind_auto<int64_t>("budget-iterations", budget_iterations,
                             "the budget in iterations per step; auto = what --budget gives", 1,
                             1'000'000'000);
  options.bind_auto("lr", lr, "learning rate; auto = the method's own", 0.0, 100.0);
  options.often_used();
  options.bind_auto("added-lr", added_lr_factor,
                    "learning rate of layers that the method adds, as a multiple of --lr", 0.0,
                    1e6);
  options.bind_auto("momentum", momentum, "of the gradient descent; auto = the method's own", 0.0,
                    0.9999);
  options.bind_auto("weight-decay", weight_decay,
                    "of the gradient descent; auto = the method's own", 0.0, 1.0);
  using Start = methods::TrainingRecipe::Start;
  options.bind_choice<std::optional<data::Crop>>(
      "crop", crop, "part of an image to train on; auto = the method's own",
      {{"auto", std::nullopt},
       {"centre", data::Crop::kCentre},
       {"random", data::Crop::kRandom},
       {"random-resized", data::Crop::kRandomResized}});
  options.bind_auto("flip", flip,
                    "probability of mirroring an image in training; auto = the method's own", 0.0,
                    1.0);
  options.bind_choice<std::optional<Start>>(
      "start", start, "what the first step starts from; auto = the method's own",
      {{"auto", std::nullopt}, {"source", Start::kSourceModel}, {"weights", Start::kWeights}});
  using methods::OnDoubt;
  options.bind_choice<std::optional<OnDoubt>>(
      "on-doubt", on_doubt,
      "what to do with a step that is refused or doubtful; auto = the method's own",
      {{"auto", std::nullopt},
       {"adapt", OnDoubt::kAdapt},
       {"skip-refused", OnDoubt::kSkipRefused},
       {"skip", OnDoubt::kSkip},
       {"stop", OnDoubt::kStop}});
  options.bind("start-weights", start_weights,
               "weight file the first step starts from instead of the source model", "FILE");
  options.bind("frozen-cache", frozen_cache,
               "folder that keeps outputs of the source model, for other runs", "DIR");
  options.does_not_decide();
  options.bind("tensorboard", tensorboard, "folder for event files that TensorBoard shows", "DIR");
  options.does_not_decide();
  options.bind("checkpoint-every", checkpoint_every,
               "seconds between checkpoints within a step; 0 = after every iteration", 0,
               1'000'000);
  options.does_not_decide();
}

methods::TrainingRecipe AdaptOptions::resolve(methods::TrainingRecipe recipe) const {
  recipe.epochs = epochs.value_or(recipe.epochs);
  recipe.iterations = iterations.value_or(recipe.iterations);
  recipe.batch_size = batch_size.value_or(recipe.batch_size);
  recipe.lr = lr.value_or(recipe.lr);
  recipe.added_lr_factor = added_lr_factor.value_or(recipe.added_lr_factor);
  recipe.momentum = momentum.value_or(recipe.momentum);
  recipe.weight_decay = weight_decay.value_or(recipe.weight_decay);
  recipe.crop = crop.value_or(recipe.crop);
  recipe.flip = flip.value_or(recipe.flip);
  recipe.start = start.value_or(recipe.start);
  return recipe;
}

int64_t AdaptOptions::resolve_iterations(const methods::TrainingRecipe& recipe) const {
  if (recipe.iterations == 0) return 0;
  const auto scaled = std::llround(static_cast<double>(recipe.iterations) * budget);
  // At least one in every round.
  return std::max<int64_t>(budget_iterations.value_or(scaled), recipe.epochs);
}

methods::OnDoubt AdaptOptions::resolve_on_doubt(const methods::MethodSpec& method) const {
  return on_doubt.value_or(method.on_doubt);
}

void AdaptOptions::bind(OptionSet& options) {
  bind_training(options);
  options.bind("source", source,
               "where the source images are now, if not where the state was trained; --root is "
               "that of their list file, too",
               "PATH");
  options.does_not_decide();
  options.bind_choice<SourceImages>(
      "source-images", source_images,
      "which source images to use; auto = those of the folder or, if it is gone, those that the "
      "state keeps",
      {{"auto", SourceImages::kAuto},
       {"folder", SourceImages::kFolder},
       {"kept", SourceImages::kKept}});
  options.bind("keep-steps", keep_steps,
               "earlier steps that are kept, for proca undo and --step of other commands", 1, 1000);
  options.does_not_decide();
  options.bind("seed", seed, "of every random choice", 0);
  load.bind(options);
  compute.bind(options);
  compute.bind_ranks(options);
}

}  // namespace proca::engine
