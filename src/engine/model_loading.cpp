#include "proca/engine/model_loading.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/models/export.h"
#include "state/history/state_history.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

constexpr std::string_view kScriptPrefix = "script:";

}  // namespace

models::ClassifierNetwork build_network(const state::ModelDescription& description,
                                        std::optional<uint64_t> seed,
                                        const std::filesystem::path& folder) {
  models::BackboneOptions options;
  options.name = description.backbone;
  if (options.name.starts_with(kScriptPrefix)) {
    const std::filesystem::path script = options.name.substr(kScriptPrefix.size());
    options.name = std::string(kScriptPrefix) + (folder / script).string();
  }
  options.stride_in = description.stride_in;
  options.seed = seed;
  models::ClassifierNetwork network(models::make_backbone(options),
                                    static_cast<int64_t>(description.class_names.size()),
                                    seed.value_or(0));
  if (!description.neck.empty()) network->insert_neck(description.neck, seed.value_or(0));
  return network;
}

void check_ready(const state::Manifest& manifest, const std::filesystem::path& folder) {
  if (manifest.phase == state::Phase::kReady) return;
  throw InputError(fmt::format(
      "{}: its source training has not ended ({} epochs done); run proca pretrain again to go on",
      folder.string(), manifest.epoch));
}

state::StateDirectory open_ready(const std::filesystem::path& folder) {
  state::StateDirectory state(folder);
  check_ready(state.manifest(), folder);
  return state;
}

namespace {

LoadedModel load_model(const state::StateDirectory& state, const state::Manifest& manifest,
                       const char* weights) {
  check_ready(manifest, state.folder());
  LoadedModel model;
  model.description = manifest.model;
  // A method that labels no image (DANN) adapts without knowing to which classes.
  if (manifest.step == 0 || !manifest.adapted_classes.empty()) {
    model.adapted_classes = manifest.adapted_classes;
  }
  model.network = build_network(manifest.model, std::nullopt, state.folder());
  models::load_weights(model.network, state.read_tensors(weights), models::HeadPolicy::kMustMatch);
  return model;
}

// `0 (source model), 3 and 4`
std::string list_steps(const std::vector<state::StateHistory::Kept>& kept, int64_t current) {
  std::vector<std::string> steps = {"0 (source model)"};
  for (const auto& entry : kept) {
    if (entry.step > 0) steps.push_back(std::to_string(entry.step));
  }
  if (current > 0) steps.push_back(std::to_string(current));
  const auto last = steps.back();
  steps.pop_back();
  return steps.empty() ? last : fmt::format("{} and {}", fmt::join(steps, ", "), last);
}

}  // namespace

LoadedModel load_model(const state::StateDirectory& state) {
  return load_model(state, state.manifest(), state::kModelFile);
}

LoadedModel load_model_of_step(const std::filesystem::path& folder, int64_t step) {
  const state::StateDirectory state(folder);
  if (step == 0) {
    auto manifest = state.manifest();
    manifest.step = 0;
    manifest.model.neck.clear();
    manifest.adapted_classes.clear();
    return load_model(state, manifest, state::kSourceFile);
  }
  if (step == state.manifest().step) return load_model(state);
  const state::StateHistory history(state.folder());
  const auto kept = history.kept(state);
  const bool is_kept =
      std::any_of(kept.begin(), kept.end(), [&](const auto& entry) { return entry.step == step; });
  if (!is_kept) {
    throw InputError(fmt::format("{}: step {} is not kept; kept: {}", state.folder().string(), step,
                                 list_steps(kept, state.manifest().step)));
  }
  return load_model(history.open(step));
}

LoadedModel load_model(const std::string& backbone, const std::filesystem::path& weights,
                       std::optional<models::StrideIn> stride_in) {
  const auto file = models::read_weight_file(weights);
  LoadedModel model;
  model.description.backbone = backbone;
  model.description.stride_in =
      stride_in.value_or(models::stride_in_of(file).value_or(models::StrideIn::k3x3));
  const auto info = models::export_info_of(file.metadata, file.origin);
  model.description.class_names = info.class_names;
  model.description.neck = info.neck;
  if (info.class_names.empty()) {
    for (int64_t i = 0; i < models::num_classes_of(file); ++i) {
      model.description.class_names.push_back(std::to_string(i));
    }
  }
  auto& preprocessing = model.description.preprocessing;
  preprocessing.image_size = info.image_size;
  preprocessing.mean = info.mean;
  preprocessing.std = info.std;
  const auto orientation = file.metadata.find("orientation");
  if (orientation != file.metadata.end() && orientation->second == "stored") {
    preprocessing.resize.orientation = data::Orientation::kStored;
  }
  model.network = build_network(model.description, std::nullopt);
  models::load_weights(model.network, file, models::HeadPolicy::kMustMatch);
  return model;
}

void ModelOptions::bind(OptionSet& options) {
  options.bind("state", state, "state directory of the model", "DIR");
  options.bind_auto<int64_t>("step", step,
                             "step of the state whose model to use, 0 for the source model; auto = "
                             "the last",
                             0, 100'000);
  options.bind("backbone", backbone, "backbone of a model given by --weights", "BACKBONE");
  options.bind("weights", weights, "weight file (.safetensors or .pth)", "FILE");
  options.bind_choice<std::optional<models::StrideIn>>(
      "stride-in", stride_in, "convolution that halves the resolution; auto asks the weight file",
      {{"auto", std::nullopt}, {"3x3", models::StrideIn::k3x3}, {"1x1", models::StrideIn::k1x1}});
}

LoadedModel ModelOptions::load() const {
  if (!state.empty() && (!backbone.empty() || !weights.empty())) {
    throw InvalidOption("--state: cannot be combined with --backbone and --weights");
  }
  if (state.empty() && step) throw InvalidOption("--step: only goes with --state");
  if (step) return load_model_of_step(state, *step);
  if (!state.empty()) return load_model(state::StateDirectory(state));
  if (backbone.empty() || weights.empty()) {
    throw InvalidOption("which model? give --state DIR, or --backbone NAME and --weights FILE");
  }
  return load_model(backbone, weights, stride_in);
}

}  // namespace proca::engine
