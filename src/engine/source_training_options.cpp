#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/engine/source_trainer.h"

namespace proca::engine {

void SourceTrainingOptions::bind(OptionSet& options) {
  options.bind("source", source, "labelled images: folder per class, list file or packed file",
               "PATH");
  options.require();
  options.often_used();
  bind_model(options);
  bind_training(options);
  options.bind("tensorboard", tensorboard, "folder for event files that TensorBoard shows", "DIR");
  options.does_not_decide();
  options.bind("checkpoint-every", checkpoint_every,
               "seconds between checkpoints, at the end of an epoch; 0 = after every epoch", 0,
               1'000'000);
  options.does_not_decide();
  keep.bind(options);
  options.bind("seed", seed, "of every random choice", 0);
  load.bind(options);
  compute.bind(options);
  compute.bind_ranks(options);
}

void SourceTrainingOptions::bind_model(OptionSet& options) {
  options.bind("backbone", backbone,
               "resnet18, resnet34, resnet50, resnet101, resnet152, resnet-small or script:FILE",
               "BACKBONE");
  options.often_used();
  options.bind("weights", weights, "weight file to start from (.safetensors or .pth)", "FILE");
  options.often_used();
  options.bind_choice<std::optional<models::StrideIn>>(
      "stride-in", stride_in, "convolution that halves the resolution; auto asks the weight file",
      {{"auto", std::nullopt}, {"3x3", models::StrideIn::k3x3}, {"1x1", models::StrideIn::k1x1}});
  options.bind("image-size", image_size, "pixels the network sees, square", 8, 4096);
  options.often_used();
  options.bind_choice<data::Orientation>(
      "orientation", orientation,
      "turn images as their EXIF orientation says, or leave them as stored",
      {{"upright", data::Orientation::kUpright}, {"stored", data::Orientation::kStored}});
  options.leave_unmentioned("\"stored\"");
}

void SourceTrainingOptions::bind_training(OptionSet& options) {
  options.bind("resize", resize, "size before the crop; 0 = image-size * 256 / 224", 0, 8192);
  options.bind_choice<data::Crop>("crop", crop, "part of the resized image to train on",
                                  {{"random", data::Crop::kRandom},
                                   {"random-resized", data::Crop::kRandomResized},
                                   {"centre", data::Crop::kCentre}});
  options.bind_auto("flip", flip,
                    "probability of mirroring an image; auto = 0.5, resnet-small from scratch 0",
                    0.0, 1.0);
  options.bind_auto<int64_t>(
      "epochs", epochs,
      "passes over the images; auto = 100, resnet-small from scratch 15; 0 = train nothing", 0,
      1'000'000);
  options.bind("batch-size", batch_size, "images per iteration", 2, 65536);
  options.bind_auto("lr", lr,
                    "learning rate of the backbone; auto = 0.001, from scratch batch-size / 2560, "
                    "resnet-small 0.05",
                    0.0, 100.0);
  options.bind_auto("head-lr", head_lr,
                    "learning rate of the classifier; auto = 0.01, from scratch as the backbone",
                    0.0, 100.0);
  options.bind_choice<std::optional<Schedule>>(
      "schedule", schedule, "course of the learning rate; auto = constant, from scratch cosine",
      {{"auto", std::nullopt}, {"constant", Schedule::kConstant}, {"cosine", Schedule::kCosine}});
  options.bind("momentum", momentum, "of the gradient descent", 0.0, 0.9999);
  options.bind("weight-decay", weight_decay, "of the gradient descent", 0.0, 1.0);
  options.bind("label-smoothing", label_smoothing, "probability spread over all classes", 0.0,
               0.99);
  options.bind("holdout", holdout, "share of every class kept back to measure accuracy on", 0.0,
               0.9);
}

int64_t SourceTrainingOptions::resolved_resize() const {
  return resize > 0 ? resize : (image_size * 256 + 112) / 224;
}

// A TorchScript module brings its weights along.
bool SourceTrainingOptions::from_scratch() const {
  return weights.empty() && !backbone.starts_with("script:");
}

Recipe SourceTrainingOptions::resolved_recipe() const {
  Recipe recipe;
  if (from_scratch() && backbone == "resnet-small") {
    recipe = {.epochs = 15, .lr = 0.05, .head_lr = 0.05, .schedule = Schedule::kCosine, .flip = 0};
  } else if (from_scratch()) {
    recipe.lr = recipe.head_lr = 0.1 * static_cast<double>(batch_size) / 256;
    recipe.schedule = Schedule::kCosine;
  }
  recipe.epochs = epochs.value_or(recipe.epochs);
  recipe.lr = lr.value_or(recipe.lr);
  recipe.head_lr = head_lr.value_or(recipe.head_lr);
  recipe.schedule = schedule.value_or(recipe.schedule);
  recipe.flip = flip.value_or(recipe.flip);
  return recipe;
}

void SourceTrainingOptions::validate() const {
  if (epochs == 0 && weights.empty()) {
    throw InvalidOption(
        "--epochs: 0 takes the weights as they are, and --weights is not given "
        "(docs/guide/weights.md tells where there are some)");
  }
  if (resolved_resize() < image_size) {
    throw InvalidOption(
        fmt::format("--resize: {} is smaller than --image-size {}", resize, image_size));
  }
}

}  // namespace proca::engine
