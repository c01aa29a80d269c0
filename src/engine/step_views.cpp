#include "engine/step_views.h"
#include "state/state_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>
#include <torch/version.h>

#include "core/scope_timer.h"
#include "engine/run_config.h"
#include "models/weights/device_copy.h"
#include "models/weights/load_weights.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"
#include "training/feeds/image_tensors.h"

namespace proca::engine {

StepViews::StepViews(state::StateWriter& writer, state::ModelDescription model,
                     models::ClassifierNetwork network, const InferenceOptions& inference)
    : writer_(writer),
      model_(std::move(model)),
      network_(std::move(network)),
      inference_(inference),
      normalise_(model_.preprocessing, inference.device) {
  const auto& state = writer_.state();
  weights_ = state.fingerprint(state::kSourceFile);
  if (state.has(state::kScriptFile))
    weights_ += ", script of " + state.fingerprint(state::kScriptFile);
  inference_.title = "target images";
  model_.neck.clear();  // What is built from it is the source model.
  // A GPU has it already: what the file says need not be read and sent again.
  if (inference_.device.is_cuda() && state.fingerprint(state::kModelFile) == weights_) {
    for (const auto& [name, tensor] : network_->state()) {
      source_weights_[name] = tensor.detach().clone();
    }
  }
}

void StepViews::set_target(const data::ImageStore& target) {
  target_ = &target;
  target_view_.reset();
}

const state::StateDirectory& StepViews::state() const {
  barrier_();
  return writer_.state();
}

void StepViews::prepare_source(const data::LoadOptions& load,
                               const std::optional<data::ResizeOptions>& training_size) {
  if (source_) return;
  source_.emplace(state(), load, inference_);
  preparing_ = std::async(std::launch::async, [this, training_size] {
    training_size ? source_->training_store(*training_size) : source_->store();
  });
}

const SourceImages& StepViews::source(const data::LoadOptions& load) {
  if (!source_) source_.emplace(state(), load, inference_);
  if (preparing_.valid()) preparing_.get();
  return *source_;
}

const models::ClassifierNetwork& StepViews::source_model() {
  if (source_model_.is_empty()) {
    const ScopeTimer timer("loading the source model");
    source_model_ = build_network(model_, std::nullopt, writer_.folder());
    if (source_weights_.empty()) {
      models::load_weights(source_model_, state().read_tensors(state::kSourceFile),
                           models::HeadPolicy::kMustMatch);
    }
    auto weights = source_model_->state();
    for (const auto& [name, tensor] : source_weights_) weights.at(name).set_data(tensor);
    source_weights_.clear();
    source_model_->to(inference_.device);  // Only what is not there yet.
  }
  return source_model_;
}

// Everything that an answer of the source model depends on.
std::string StepViews::question(const std::string& what, const std::string& images) const {
  const auto& input = model_.preprocessing;
  const bool on_gpu = inference_.device.is_cuda();
  return fmt::format(
      "format 1\n{}\nmodel: {}, stride in {}, {}\ninput: {} pixels, mean {}, std {}\n"
      "numbers: {}, LibTorch {}\nimages: {}\n",
      what, model_.backbone, model_.stride_in == models::StrideIn::k1x1 ? "1x1" : "3x3", weights_,
      input.image_size, fmt::join(input.mean, " "), fmt::join(input.std, " "),
      on_gpu ? fmt::format("cuda {}", compute::word_of(inference_.precision)) : "cpu",
      TORCH_VERSION, images);
}

// Hashing the images is worth it only if there is a cache.
models::NamedTensors StepViews::ask_source_model(
    const std::string& what, const std::function<std::string()>& describe_images,
    const std::function<models::NamedTensors()>& compute) {
  if (!cache_.is_on()) return compute();
  return cache_.answer(question(what, describe_images()), compute);
}

methods::Predictions StepViews::predict_target(methods::ModelChoice choice) {
  if (choice == methods::ModelChoice::kCurrent) {
    return predict_all(network_, *target_, model_.preprocessing, inference_);
  }
  if (!target_view_) {
    const auto answer = ask_source_model(
        "probabilities and features",
        [&] { return fmt::format("{:016x}", hash_pixels(*target_, inference_.threads)); },
        [&]() -> models::NamedTensors {
          const auto view = predict_all(source_model(), *target_, model_.preprocessing, inference_);
          return {{"probabilities", view.probabilities}, {"features", view.features}};
        });
    target_view_ = {answer.at("probabilities"), answer.at("features")};
  }
  return *target_view_;
}

// Those of the source model are kept in the state, for as long as the images are the same.
torch::Tensor StepViews::centres(methods::ModelChoice choice) {
  if (choice == methods::ModelChoice::kCurrent) return source_->centres(network_);
  if (source_centres_.defined()) return source_centres_;
  const auto& state = this->state();
  if (state.has(state::kCentresFile)) {
    const auto saved = state.read_tensors(state::kCentresFile);
    const auto description = saved.metadata.find("source");
    if (description != saved.metadata.end() && description->second == source_->description()) {
      source_centres_ = saved.tensors.at("centres").to(inference_.device);
      return source_centres_;
    }
  }
  const auto answer = ask_source_model(
      "centres of classes",
      [&] { return fmt::format("{:016x}\n{}", source_->content_hash(), source_->description()); },
      [&]() -> models::NamedTensors {
        return {{"centres", source_->centres(source_model()).to(torch::kCPU)}};
      });
  source_centres_ = answer.at("centres").to(inference_.device);
  writer_.put_tensors(state::kCentresFile, {{"centres", source_centres_}},
                      {{"source", source_->description()}});
  return source_centres_;
}

torch::Tensor StepViews::known_centres() {
  if (source_centres_.defined()) return source_centres_;
  // Looked up once: waiting for the state at every step would hold up the next one.
  if (!kept_centres_) {
    const auto& state = this->state();
    kept_centres_ = state.has(state::kCentresFile)
                        ? state.read_tensors(state::kCentresFile).tensors.at("centres")
                        : torch::Tensor();
  }
  return *kept_centres_;
}

methods::StepContext StepViews::context() {
  methods::StepContext context;
  context.predict_target = [this](methods::ModelChoice choice) { return predict_target(choice); };
  context.target_pixels = [this](const std::vector<int64_t>& ids) {
    return training::pixels_of(*target_, ids, model_.preprocessing);
  };
  context.to_input = [this](const torch::Tensor& pixels) {
    return normalise_(models::copy_to(pixels, inference_.device));
  };
  context.for_each_target_batch = [this](const methods::StepContext::BatchFunction& function) {
    visit_images(*target_, model_.preprocessing, inference_,
                 [&](const torch::Tensor& images, const torch::Tensor&) { function(images, {}); });
  };
  if (!source_) return context;
  context.source_prior = source_->prior();
  context.source_centres = [this](methods::ModelChoice choice) { return centres(choice); };
  context.for_each_source_batch = [this](const methods::StepContext::BatchFunction& function) {
    source_->visit(function);
  };
  return context;
}

}  // namespace proca::engine
