#include "engine/step_inputs.h"

#include <fmt/format.h>
#include <torch/types.h>

#include "adaptation/source_centres.h"
#include "models/weights/device_copy.h"
#include "proca/core/error.h"
#include "training/feeds/image_tensors.h"

namespace proca::engine {
namespace {

InferenceOptions with_title(InferenceOptions inference, const char* title) {
  inference.title = title;
  return inference;
}

// With several ranks one may find there what another does not.
FrozenCache open_cache(const AdaptOptions& options) {
  return FrozenCache(options.compute.ranks ? std::string() : options.frozen_cache);
}

std::shared_ptr<const data::ImageSource> open_source_of(const state::StateDirectory& state) {
  const auto& manifest = state.manifest();
  try {
    return data::open_images(std::filesystem::path(manifest.source),
                             {.labels = data::Labels::kRequired,
                              .root = manifest.source_root,
                              .known_classes = manifest.model.class_names});
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}: adaptation needs the source images that this state was trained on, and "
                    "they cannot be used any more: {}",
                    state.folder().string(), error.what()));
  }
}

}  // namespace

StepInputs::StepInputs(const AdaptOptions& options, std::shared_ptr<StateSession> session,
                       std::shared_ptr<training::DeviceImages> device_images)
    : session_(std::move(session)),
      load_(options.load),
      recipe_(options.resolve(methods::find_method(options.method.name()).recipe)),
      preprocessing_(session_->manifest().model.preprocessing),
      device_images_(device_images != nullptr
                         ? std::move(device_images)
                         : training::make_device_images(load_.cache_gpu, options.compute)),
      inference_(inference_options(options.compute, device_images_.get())),
      source_inference_(with_title(inference_, "source images")),
      target_inference_(with_title(inference_, "target images")),
      normalise_(preprocessing_, inference_.device),
      source_model_(*session_, inference_, open_cache(options)) {}

void StepInputs::open_source(data::LoadOptions load) {
  if (source_) return;
  const auto images = open_source_of(session_->files());
  source_.emplace(images, images, preprocessing_, training_size(), std::move(load), inference_);
  std::vector<int64_t> labels;
  for (const auto& sample : images->listing().samples) labels.push_back(sample.label);
  source_prior_ = adaptation::class_prior(torch::tensor(labels, torch::kInt64),
                                          images->listing().num_classes());
}

void StepInputs::prepare_source() {
  open_source(load_);
  preparing_ = std::async(std::launch::async, [this] { source_->training(); });
}

std::optional<data::ResizeOptions> StepInputs::training_size() const {
  return training::training_resize(recipe_, preprocessing_);
}

void StepInputs::set_training_images(std::shared_ptr<const data::ImageSource> images) {
  training_images_ = std::move(images);
}

void StepInputs::set_network(const models::ClassifierNetwork& network) {
  network_ = network;
  const auto& files = session_->files();
  const bool is_source_model =
      !files.has(state::kScriptFile) &&
      files.fingerprint(state::kModelFile) == files.fingerprint(state::kSourceFile);
  if (is_source_model && inference_.device.is_cuda()) source_model_.copy_weights(network);
}

void StepInputs::set_target(const std::shared_ptr<const data::ImageSource>& images) {
  source_model_predictions_.reset();
  auto training = training_images_ ? std::move(training_images_) : images;
  training_images_.reset();
  target_.emplace(images, std::move(training), preprocessing_, training_size(), load_, inference_);
  target_->evaluation();
}

training::TrainingImages StepInputs::shown_in_training(StepImages& images) const {
  return {&images.training(), training::training_augmentation(recipe_, preprocessing_)};
}

training::TrainingImages StepInputs::target_for_training() {
  const auto images = shown_in_training(*target_);
  if (images.store->size() != target().size()) {
    throw InputError(fmt::format("{}: {} images can be used as a whole, {} in parts",
                                 target().origin(), target().size(), images.store->size()));
  }
  return images;
}

training::TrainingImages StepInputs::source_for_training() {
  open_source(target_->load_beside());
  if (preparing_.valid()) preparing_.get();
  return shown_in_training(*source_);
}

methods::Predictions StepInputs::predict_target(methods::ModelChoice choice) {
  if (choice == methods::ModelChoice::kCurrent) {
    return predict_all(network_, target(), preprocessing_, target_inference_);
  }
  if (!source_model_predictions_) {
    source_model_predictions_ = source_model_.predict(target(), target_inference_);
  }
  return *source_model_predictions_;
}

torch::Tensor StepInputs::source_centres(methods::ModelChoice choice) {
  return choice == methods::ModelChoice::kCurrent
             ? feature_centres(network_, source_->evaluation(), preprocessing_, source_inference_)
             : source_model_.centres(*source_, source_inference_);
}

methods::StepContext StepInputs::context() {
  methods::StepContext context;
  context.predict_target = [this](methods::ModelChoice choice) { return predict_target(choice); };
  context.target_pixels = [this](const std::vector<int64_t>& ids) {
    return training::pixels_of(target(), ids, preprocessing_);
  };
  context.to_input = [this](const torch::Tensor& pixels) {
    return normalise_(models::copy_to(pixels, inference_.device));
  };
  context.for_each_target_batch = [this](const methods::StepContext::BatchFunction& function) {
    visit_images(target(), preprocessing_, target_inference_,
                 [&](const torch::Tensor& images, const torch::Tensor&) { function(images, {}); });
  };
  if (!source_) return context;
  context.source_prior = source_prior_;
  context.source_centres = [this](methods::ModelChoice choice) { return source_centres(choice); };
  context.for_each_source_batch = [this](const methods::StepContext::BatchFunction& function) {
    visit_images(source_->evaluation(), preprocessing_, source_inference_, function);
  };
  return context;
}

}  // namespace proca::engine
