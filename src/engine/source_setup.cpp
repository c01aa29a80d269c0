#include "engine/source_setup.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "data/source/subset.h"
#include "engine/run_identity.h"
#include "engine/source/source_location.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

// Below about this many images a large network learns them by heart: CIFAR has 50,000 small ones,
// ImageNet a million.
constexpr int64_t kFewForScratch = 50'000;

// The manifest is JSON, which is UTF-8.
void check_text(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("\"{}\": the name is not UTF-8; rename it", text));
  }
}

void check_classes(const data::ImageListing& listing) {
  if (listing.num_classes() < 2) {
    throw InputError(fmt::format("{}: has only one class, \"{}\"; a classifier needs two or more",
                                 listing.origin, listing.class_names.front()));
  }
  const auto counts = listing.count_per_class();
  for (size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) {
      log_warning(fmt::format("{}: class {} has no image", listing.origin, label));
    }
  }
}

}  // namespace

SourceTrainingSet::SourceTrainingSet(const SourceTrainingOptions& options)
    : options_(options),
      source_(data::open_images(fs::path(options.source),
                                {.labels = data::Labels::kRequired, .root = options.load.root})) {
  check_classes(listing());
  check_text(options_.source);
  for (const auto& name : listing().class_names) check_text(name);
}

void SourceTrainingSet::describe(state::Manifest& manifest, const fs::path& folder) const {
  record_source(manifest, {options_.source, options_.load.root}, folder);
  manifest.source_files = describe_files(listing());
  manifest.model.class_names = listing().class_names;
  manifest.model.preprocessing.image_size = options_.image_size;
  manifest.model.preprocessing.resize.orientation = options_.orientation;
}

void SourceTrainingSet::load(const data::Preprocessing& preprocessing) {
  if (training_) return;
  const auto split =
      data::stratified_split(listing(), options_.holdout, static_cast<uint64_t>(options_.seed));
  const auto threads = options_.compute.resolved_threads();
  training_.emplace(options_.load.make_store(
      data::subset(source_, split.training),
      {data::ResizeOptions::Mode::kExact, options_.resolved_resize(), options_.orientation},
      threads));
  if (training_->size() < 2) {
    throw InputError(
        fmt::format("{}: {} image is too few to train on", options_.source, training_->size()));
  }
  if (split.holdout.empty()) {
    if (options_.holdout > 0) {
      log_warning("--holdout: the classes have too few images; none is held out");
    }
    return;
  }
  holdout_.emplace(options_.load.beside(*training_)
                       .make_store(data::subset(source_, split.holdout),
                                   preprocessing.resolved_resize(), threads));
}

void announce_training(const SourceTrainingOptions& options, int64_t num_images) {
  const auto recipe = options.resolved_recipe();
  if (recipe.epochs == 0) return;
  const bool random = options.from_scratch();
  log_info(fmt::format(
      "training {} from {}: {} over {}, {} rate {:.4g} (classifier {:.4g})", options.backbone,
      random                    ? "random weights"
      : options.weights.empty() ? "the module's weights"
                                : options.weights,
      counted(recipe.epochs, "epoch"), counted(num_images, "image"),
      recipe.schedule == Schedule::kCosine ? "cosine" : "constant", recipe.lr, recipe.head_lr));
  if (random && options.backbone != "resnet-small" && num_images < kFewForScratch) {
    log_warning(fmt::format(
        "{} images are too few to train a {} from random weights (good ones take {} or more): "
        "give --weights; docs/guide/weights.md tells where there are some",
        num_images, options.backbone, kFewForScratch));
  }
}

models::ClassifierNetwork build_source_network(const SourceTrainingOptions& options,
                                               state::ModelDescription& model,
                                               std::string& script) {
  model.backbone = options.backbone;
  model.preprocessing.image_size = options.image_size;
  model.stride_in = options.stride_in.value_or(models::StrideIn::k3x3);
  std::optional<models::WeightFile> weights;
  if (!options.weights.empty()) {
    weights = models::read_weight_file(options.weights);
    if (!options.stride_in) {
      model.stride_in = models::stride_in_of(*weights).value_or(model.stride_in);
    }
  }
  auto network = build_network(model, static_cast<uint64_t>(options.seed), fs::current_path());
  if (weights) {
    const auto report = models::load_weights(network, *weights);
    if (!report.notice.empty()) log_info(report.notice);
  }
  if (model.backbone.starts_with("script:")) {
    script = read_text_file(model.backbone.substr(7));
    model.backbone = std::string("script:") + state::kScriptFile;
  }
  return network;
}

}  // namespace proca::engine
