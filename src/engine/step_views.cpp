#include "step_views.h"

#include <torch/types.h>

#include "proca/engine/image_tensors.h"
#include "proca/engine/model_loading.h"
#include "proca/models/device_copy.h"
#include "proca/models/load_weights.h"
#include "state_files.h"

namespace proca::engine {

StepViews::StepViews(std::filesystem::path folder, ModelDescription model,
                     models::ClassifierNetwork network, const InferenceOptions& inference)
    : folder_(std::move(folder)),
      model_(std::move(model)),
      network_(std::move(network)),
      inference_(inference),
      normalise_(model_.preprocessing, inference.device) {
  inference_.title = "target images";
  model_.neck.clear();  // What is built from it is the source model.
}

void StepViews::set_target(const data::ImageStore& target) {
  target_ = &target;
  target_view_.reset();
}

const SourceImages& StepViews::source(const data::LoadOptions& load) {
  if (!source_) source_.emplace(StateDirectory(folder_), load, inference_);
  return *source_;
}

// Needed in few places and for a short time: loaded when it is.
models::ClassifierNetwork StepViews::source_model() const {
  auto network = build_network(model_, 0, folder_);
  models::load_weights(network, StateDirectory(folder_).read_tensors(kSourceFile),
                       models::HeadPolicy::kMustMatch);
  network->to(inference_.device);
  return network;
}

methods::Predictions StepViews::predict_target(methods::ModelChoice choice) {
  if (choice == methods::ModelChoice::kCurrent) {
    return predict_all(network_, *target_, model_.preprocessing, inference_);
  }
  if (!target_view_) {
    target_view_ = predict_all(source_model(), *target_, model_.preprocessing, inference_);
  }
  return *target_view_;
}

// Those of the source model are kept in the state, for as long as the images are the same.
torch::Tensor StepViews::centres(methods::ModelChoice choice, StateWriter& writer) {
  if (choice == methods::ModelChoice::kCurrent) return source_->centres(network_);
  if (source_centres_.defined()) return source_centres_;
  const StateDirectory state(folder_);
  if (state.has(kCentresFile)) {
    const auto saved = state.read_tensors(kCentresFile);
    const auto description = saved.metadata.find("source");
    if (description != saved.metadata.end() && description->second == source_->description()) {
      source_centres_ = saved.tensors.at("centres").to(inference_.device);
      return source_centres_;
    }
  }
  source_centres_ = source_->centres(source_model());
  writer.put_tensors(kCentresFile, {{"centres", source_centres_}},
                     {{"source", source_->description()}});
  return source_centres_;
}

methods::StepContext StepViews::context(StateWriter& writer) {
  methods::StepContext context;
  context.predict_target = [this](methods::ModelChoice choice) { return predict_target(choice); };
  context.target_pixels = [this](const std::vector<int64_t>& ids) {
    return pixels_of(*target_, ids, model_.preprocessing);
  };
  context.target_name = [this](int64_t id) { return target_->sample(id).path; };
  context.to_input = [this](const torch::Tensor& pixels) {
    return normalise_(models::copy_to(pixels, inference_.device));
  };
  context.visit_target = [this](const methods::StepContext::Visitor& visitor) {
    visit_images(*target_, model_.preprocessing, inference_,
                 [&](const torch::Tensor& images, const torch::Tensor&) { visitor(images, {}); });
  };
  if (!source_) return context;
  context.source_prior = source_->prior();
  context.source_centres = [this, &writer](methods::ModelChoice choice) {
    return centres(choice, writer);
  };
  context.visit_source = [this](const methods::StepContext::Visitor& visitor) {
    source_->visit(visitor);
  };
  return context;
}

}  // namespace proca::engine
