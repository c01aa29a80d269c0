#include "engine/source_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>
#include <torch/version.h>

#include "core/scope_timer.h"
#include "engine/run_identity.h"
#include "models/weights/load_weights.h"
#include "proca/engine/model_loading.h"

namespace proca::engine {

SourceModel::SourceModel(StateSession& session, const InferenceOptions& inference,
                         FrozenCache cache)
    : session_(session),
      model_(session.manifest().model),
      device_(inference.device),
      precision_(inference.precision),
      cache_(std::move(cache)) {
  const auto& state = session_.files();
  fingerprint_ = state.fingerprint(state::kSourceFile);
  if (state.has(state::kScriptFile))
    fingerprint_ += ", script of " + state.fingerprint(state::kScriptFile);
  model_.neck.clear();  // The neck belongs to the adapted model.
  if (state.has(state::kCentresFile)) saved_centres_ = state.read_tensors(state::kCentresFile);
}

void SourceModel::copy_weights(const models::ClassifierNetwork& network) {
  for (const auto& [name, tensor] : network->state()) weights_[name] = tensor.detach().clone();
}

const models::ClassifierNetwork& SourceModel::network() {
  if (!network_.is_empty()) return network_;
  const ScopeTimer timer("loading the source model");
  network_ = build_network(model_, std::nullopt, session_.folder());
  if (weights_.empty()) {
    models::load_weights(network_, session_.files().read_tensors(state::kSourceFile),
                         models::HeadPolicy::kMustMatch);
  }
  auto weights = network_->state();
  for (const auto& [name, tensor] : weights_) weights.at(name).set_data(tensor);
  weights_.clear();
  network_->to(device_);  // Only what is not there yet.
  return network_;
}

// Names everything that the output depends on.
std::string SourceModel::cache_key(const std::string& what, const std::string& images) const {
  const auto& input = model_.preprocessing;
  const bool on_gpu = device_.is_cuda();
  const auto* cpu = compute::winograd() == compute::Winograd::kOn ? "cpu" : "cpu, no Winograd";
  return fmt::format(
      "format 1\n{}\nmodel: {}, stride in {}, {}\ninput: {} pixels, mean {}, std {}\n"
      "numbers: {}, LibTorch {}\nimages: {}\n",
      what, model_.backbone, model_.stride_in == models::StrideIn::k1x1 ? "1x1" : "3x3",
      fingerprint_, input.image_size, fmt::join(input.mean, " "), fmt::join(input.std, " "),
      on_gpu ? fmt::format("cuda {}", compute::word_of(precision_)) : cpu, TORCH_VERSION, images);
}

methods::Predictions SourceModel::predict(const data::ImageStore& target,
                                          const InferenceOptions& inference) {
  const auto outputs = cache_.get(
      [&] {
        return cache_key("probabilities and features",
                         fmt::format("{:016x}", hash_pixels(target, inference.threads)));
      },
      [&]() -> models::NamedTensors {
        const auto outputs = predict_all(network(), target, model_.preprocessing, inference);
        return {{"probabilities", outputs.probabilities}, {"features", outputs.features}};
      });
  return {outputs.at("probabilities"), outputs.at("features")};
}

torch::Tensor SourceModel::centres(StepImages& source, const InferenceOptions& inference) {
  if (centres_.defined()) return centres_;
  // Those of the state hold for as long as the source images are the same.
  const auto& images = source.evaluation();
  const auto description = fmt::format("{}, {}", describe_images(source.listing()),
                                       describe_images(images, inference.threads));
  if (saved_centres_.metadata["source"] == description) {
    centres_ = known_centres().to(device_);
    return centres_;
  }
  const auto outputs = cache_.get(
      [&] {
        const auto content = hash_pixels(images, inference.threads);
        return cache_key("centres of classes", fmt::format("{:016x}\n{}", content, description));
      },
      [&]() -> models::NamedTensors {
        const auto centres = feature_centres(network(), images, model_.preprocessing, inference);
        return {{"centres", centres.to(torch::kCPU)}};
      });
  centres_ = outputs.at("centres").to(device_);
  session_.put_tensors(state::kCentresFile, {{"centres", centres_}}, {{"source", description}});
  return centres_;
}

torch::Tensor SourceModel::known_centres() const {
  if (centres_.defined() || saved_centres_.tensors.empty()) return centres_;
  return saved_centres_.tensors.at("centres");
}

}  // namespace proca::engine
