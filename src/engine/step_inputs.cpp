#include "engine/step_inputs.h"

#include <fmt/format.h>
#include <torch/types.h>

#include "adaptation/source_centres.h"
#include "core/files/path.h"
#include "models/weights/device_copy.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
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

torch::Tensor prior_of(const data::ImageListing& listing) {
  std::vector<int64_t> labels;
  for (const auto& sample : listing.samples) labels.push_back(sample.label);
  return adaptation::class_prior(torch::tensor(labels, torch::kInt64), listing.num_classes());
}

// Whether a step gets the source images that the state keeps, not those of the folder.
bool wants_kept_source(const AdaptOptions& options, StateSession& session) {
  const auto& state = session.files();
  const bool has_them = state.has(state::kKeptSourceFile);
  if (options.source_images != SourceImages::kKept) {
    return options.source_images == SourceImages::kAuto && options.source.empty() && has_them &&
           !is_there(find_source(state.manifest(), state.folder()).images);
  }
  if (!options.source.empty()) {
    throw InvalidOption("--source: cannot be combined with --source-images kept");
  }
  if (has_them) return true;
  throw InputError(
      fmt::format("{}: keeps no source images; proca pretrain with the options of its training and "
                  "--keep-source N adds some, without training again",
                  state.folder().string()));
}

std::string name_kept_source(const AdaptOptions& options, StateSession& session) {
  if (!wants_kept_source(options, session)) return {};
  return "kept, " + session.files().fingerprint(state::kKeptSourceFile);
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
      source_model_(*session_, inference_, open_cache(options)),
      given_source_{options.source, options.source.empty() ? "" : options.load.root},
      kept_source_(name_kept_source(options, *session_)) {}

// Those of the folder. A place that is given again is not compared again.
std::shared_ptr<const data::ImageSource> StepInputs::open_source_images() {
  const auto& state = session_->files();
  if (given_source_.images.empty() ||
      is_found_at(given_source_, state.manifest(), state.folder())) {
    return open_source_of(state);
  }
  auto images = open_relocated_source(state, given_source_, load_, inference_.threads);
  session_->relocate_source(given_source_);
  return images;
}

void StepInputs::open_source(data::LoadOptions load) {
  if (source_) return;
  std::shared_ptr<const data::ImageSource> images;
  if (!kept_source_.empty()) {
    const auto& state = session_->files();
    kept_ = read_kept_source(state);
    images = kept_->images(state.manifest().model.class_names,
                           (state.folder() / state::kKeptSourceFile).string());
    log_info(
        fmt::format("source images: {} that the state keeps, {} per class, in place of all "
                    "{}; class centres and shares of the classes are those of all",
                    kept_->size(), kept_->per_class(), kept_->num_source_images()));
  } else {
    images = open_source_images();
    log_info(
        fmt::format("source images: {} of {}", images->listing().size(), images->listing().origin));
  }
  source_.emplace(images, images, preprocessing_, training_size(), std::move(load), inference_);
  source_prior_ = kept_ ? kept_->prior() : prior_of(images->listing());
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
  auto images = shown_in_training(*source_);
  if (kept_) images.stand_for = kept_->num_source_images();
  return images;
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
  if (choice == methods::ModelChoice::kCurrent) {
    return feature_centres(network_, source_->evaluation(), preprocessing_, source_inference_);
  }
  if (kept_) return kept_->centres.to(inference_.device);
  return source_model_.centres(*source_, source_inference_);
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
