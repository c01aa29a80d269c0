#include "engine/source_images.h"

#include <algorithm>

#include <fmt/format.h>

#include "adaptation/source_centres.h"
#include "engine/run_config.h"
#include "proca/core/error.h"
#include "training/feeds/device_images.h"

namespace proca::engine {
namespace {

std::unique_ptr<data::ImageSource> open_source(const state::StateDirectory& state) {
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

SourceImages::SourceImages(const state::StateDirectory& state, const data::LoadOptions& load,
                           const InferenceOptions& inference)
    : preprocessing_(state.manifest().model.preprocessing),
      inference_(inference),
      source_(open_source(state)),
      load_(load) {
  inference_.title = "source images";
  std::vector<int64_t> labels;
  for (const auto& sample : source_->listing().samples) labels.push_back(sample.label);
  prior_ = adaptation::class_prior(torch::tensor(labels, torch::kInt64),
                                   static_cast<int64_t>(state.manifest().model.class_names.size()));
}

SourceImages::~SourceImages() {
  if (inference_.images == nullptr) return;
  if (store_) inference_.images->forget(*store_);
  if (training_store_) inference_.images->forget(*training_store_);
}

const data::ImageStore& SourceImages::store() const {
  if (!store_) {
    auto load = load_;  // What the other store left of the memory.
    if (training_store_) {
      load.cache_ram = std::max<int64_t>(0, load.cache_ram - training_store_->cached_bytes());
    }
    store_.emplace(load.make_store(source_, preprocessing_.resolved_resize(), inference_.threads));
  }
  return *store_;
}

const data::ImageStore& SourceImages::training_store(const data::ResizeOptions& resize) const {
  if (!training_store_) {
    auto load = load_;
    if (store_) load.cache_ram = std::max<int64_t>(0, load.cache_ram - store_->cached_bytes());
    training_store_.emplace(load.make_store(source_, resize, inference_.threads));
  }
  return *training_store_;
}

const std::string& SourceImages::description() const {
  if (description_.empty()) {
    description_ = describe_images(source_->listing()) + describe_content(store());
  }
  return description_;
}

uint64_t SourceImages::content_hash() const {
  if (!content_hash_) content_hash_ = hash_pixels(store(), inference_.threads);
  return *content_hash_;
}

torch::Tensor SourceImages::centres(const models::ClassifierNetwork& network) const {
  return feature_centres(network, store(), preprocessing_, inference_);
}

void SourceImages::visit(const methods::StepContext::BatchFunction& function) const {
  visit_images(store(), preprocessing_, inference_, function);
}

}  // namespace proca::engine
