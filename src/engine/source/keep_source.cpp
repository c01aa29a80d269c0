#include "proca/engine/keep_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "adaptation/herding.h"
#include "adaptation/source_centres.h"
#include "core/parallel.h"
#include "engine/source/kept_source.h"
#include "engine/source/source_location.h"
#include "engine/source/training_record.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/data/crop.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"
#include "state/state_writer.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
using adaptation::HerdingOptions;

models::ClassifierNetwork load_source_network(const state::StateDirectory& state) {
  auto description = state.manifest().model;
  description.neck.clear();  // The neck belongs to the adapted model.
  auto network = build_network(description, std::nullopt, state.folder());
  models::load_weights(network, state.read_tensors(state::kSourceFile),
                       models::HeadPolicy::kMustMatch);
  return network;
}

int64_t images_within(const std::vector<int64_t>& counts, int64_t per_class) {
  int64_t total = 0;
  for (const int64_t count : counts) total += std::min(count, per_class);
  return total;
}

// The source model's view of all source images.
struct SourceView {
  torch::Tensor features;  // float [N, D]
  torch::Tensor labels;    // int64 [N]
  torch::Tensor centres;   // float [K, D]
};

SourceView view_source(const state::StateDirectory& state, const data::ImageStore& store,
                       InferenceOptions inference) {
  inference.title = "source images";
  auto network = load_source_network(state);
  network->to(inference.device);
  adaptation::ClassCentres centres(network->num_classes(), network->feature_size());
  std::vector<torch::Tensor> features, labels;
  predict(network, store, state.manifest().model.preprocessing, inference,
          [&](const BatchPrediction& batch) {
            std::vector<int64_t> batch_labels;
            for (const int64_t i : batch.indexes) batch_labels.push_back(store.sample(i).label);
            labels.push_back(torch::tensor(batch_labels, torch::kInt64));
            features.push_back(batch.features);
            centres.add(batch.features, labels.back());
          });
  return {torch::cat(features), torch::cat(labels), centres.centres()};
}

// Indexes of the images to keep, ascending.
std::vector<int64_t> choose_images(const SourceView& source, int64_t per_class) {
  std::vector<int64_t> all;
  for (int64_t label = 0; label < source.centres.size(0); ++label) {
    throw_if_interrupted("stopped");
    const auto members = (source.labels == label).nonzero().flatten();
    const auto chosen = adaptation::herd(source.features.index_select(0, members),
                                         std::min(per_class, members.size(0)),
                                         {.features = HerdingOptions::Features::kUnit,
                                          .repeats = HerdingOptions::Repeats::kIfNeeded});
    for (const int64_t i : chosen) all.push_back(members.data_ptr<int64_t>()[i]);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The pixels of some images of a store whose images are all of one size.
torch::Tensor stack_images(const data::ImageStore& store, const std::vector<int64_t>& indexes,
                           int64_t threads) {
  const int64_t side = store.common_side().value();
  const auto pixels = torch::empty(
      {static_cast<int64_t>(indexes.size()), side, side, data::Image::kChannels}, torch::kUInt8);
  const auto bytes = static_cast<size_t>(data::image_bytes(side, side));
  auto* first = pixels.data_ptr<uint8_t>();
  parallel_for(pixels.size(0), threads, [&](int64_t i) {
    data::Image scratch;
    const auto view = store.load(indexes[static_cast<size_t>(i)], scratch);
    data::copy_crop(view, {0, 0, side, side}, data::Flip::kNone,
                    {first + static_cast<size_t>(i) * bytes, bytes});
  });
  return pixels;
}

bool keeps_already(const state::StateDirectory& state, const std::vector<int64_t>& counts,
                   int64_t per_class, int64_t size) {
  if (!state.has(state::kKeptSourceFile)) return false;
  const auto kept = read_kept_source(state);
  return kept.size() == images_within(counts, per_class) && kept.pixels.size(1) == size;
}

}  // namespace

void KeepSourceOptions::bind(OptionSet& options) {
  options.bind("keep-source", per_class,
               "source images of each class to keep in the state, for steps without the folder; "
               "0 = none",
               0, 1'000'000);
  options.does_not_decide();
  options.bind_bytes("keep-source-bytes", max_bytes,
                     "of the images to keep at most; fewer of each class are kept then");
  options.does_not_decide();
}

int64_t KeepSourceOptions::fitting(const std::vector<int64_t>& counts, int64_t size) const {
  const int64_t images = max_bytes / data::image_bytes(size, size);
  int64_t fits = 0, too_many = per_class + 1;
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (images_within(counts, middle) <= images ? fits : too_many) = middle;
  }
  if (fits == 0 && per_class > 0) {
    throw InvalidOption(fmt::format(
        "--keep-source-bytes: {} bytes are too few for one image of each of {} classes, {} bytes "
        "each",
        max_bytes, images_within(counts, 1), data::image_bytes(size, size)));
  }
  return fits;
}

void keep_source_images(const fs::path& folder, const KeepSourceOptions& options,
                        const data::LoadOptions& load, const compute::ComputeOptions& compute) {
  if (options.per_class == 0) return;
  state::StateWriter writer(folder);
  const auto& state = writer.state();
  check_ready(state.manifest(), folder);
  const std::shared_ptr source = open_source_of(state);
  const auto counts = source->listing().count_per_class();
  const int64_t size = training_options_of(state).resolved_resize();
  const int64_t per_class = options.fitting(counts, size);
  if (per_class < options.per_class) {
    log_warning(fmt::format("--keep-source-bytes: {} bytes hold {} images of each class, not {}",
                            options.max_bytes, per_class, options.per_class));
  }
  if (keeps_already(state, counts, per_class, size)) return;

  const auto threads = compute.resolved_threads();
  const auto decode = [&](const data::ResizeOptions& resize) {
    return data::without_cache(load).make_store(source, resize, threads);
  };
  const auto& preprocessing = state.manifest().model.preprocessing;
  const data::ResizeOptions kept_size{data::ResizeOptions::Mode::kExact, size,
                                      preprocessing.resize.orientation};
  const auto store = decode(preprocessing.resolved_resize());
  const auto view = view_source(state, store, inference_options(compute));
  const auto chosen = choose_images(view, per_class);
  KeptSource kept{.pixels = stack_images(decode(kept_size), chosen, threads),
                  .labels = view.labels.index_select(0, torch::tensor(chosen, torch::kInt64)),
                  .origins = {},
                  .counts = torch::tensor(counts, torch::kInt64),
                  .centres = view.centres};
  for (const int64_t i : chosen) kept.origins.push_back(store.sample(i).path);
  writer.put_tensors(state::kKeptSourceFile, kept.save(), {});
  writer.commit(state::Manifest(state.manifest()));
  log_info(fmt::format("{}: keeps {} of {} source images, {:.1f} MB", folder.string(), kept.size(),
                       kept.num_source_images(), static_cast<double>(kept.bytes()) / 1e6));
}

}  // namespace proca::engine
