#include "source_images.h"

#include <fmt/format.h>

#include "proca/adaptation/source_centres.h"
#include "proca/core/error.h"
#include "run_config.h"

namespace proca::engine {
namespace {

std::unique_ptr<data::ImageSource> open_source(const StateDirectory& state) {
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

SourceImages::SourceImages(const StateDirectory& state, const data::LoadOptions& load,
                           const InferenceOptions& inference)
    : preprocessing_(state.manifest().model.preprocessing), inference_(inference) {
  inference_.title = "source images";
  const std::shared_ptr<const data::ImageSource> source = open_source(state);
  store_.emplace(load.make_store(source, preprocessing_.resolved_resize(), inference.threads));
  description_ = describe_images(source->listing()) + describe_content(*store_);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < store_->size(); ++i) labels.push_back(store_->sample(i).label);
  labels_ = torch::tensor(labels, torch::kInt64);
  prior_ = adaptation::class_prior(labels_,
                                   static_cast<int64_t>(state.manifest().model.class_names.size()));
}

torch::Tensor SourceImages::centres(const models::ClassifierNetwork& network) const {
  adaptation::ClassCentres centres(network->num_classes(), network->feature_size());
  int64_t done = 0;
  predict(network, *store_, preprocessing_, inference_, [&](const BatchPrediction& batch) {
    const int64_t count = batch.features.size(0);
    centres.add(batch.features, labels_.narrow(0, done, count));
    done += count;
  });
  return centres.centres().to(inference_.device);
}

}  // namespace proca::engine
