#include "proca/engine/inference.h"

#include <numeric>

#include <torch/types.h>

#include "device_images.h"
#include "loader_feed.h"
#include "proca/core/interrupt.h"
#include "proca/core/progress.h"
#include "proca/engine/image_tensors.h"
#include "proca/engine/precision.h"
#include "proca/models/inference_network.h"

namespace proca::engine {

namespace {

std::unique_ptr<BatchFeed> open_feed(const data::ImageStore& store,
                                     const data::Preprocessing& preprocessing,
                                     const InferenceOptions& options) {
  FeedPlan plan{.batches = data::ordered_batches(store.size(), options.batch_size),
                .augmentation = preprocessing.centre_crop()};
  plan.epochs.assign(plan.batches.size(), 0);
  if (options.images != nullptr) return options.images->feed(store, std::move(plan), preprocessing);
  return std::make_unique<LoaderFeed>(store, std::move(plan), preprocessing, options.device,
                                      options.threads);
}

void for_each_batch(const data::ImageStore& store, const data::Preprocessing& preprocessing,
                    const InferenceOptions& options,
                    const std::function<void(const TensorBatch&, std::vector<int64_t>)>& receive) {
  const torch::NoGradGuard no_grad;
  // Also when a method asks in the middle of an iteration: decisions are made of this.
  const AutocastScope precise(Precision::kTf32, options.device);
  const auto feed = open_feed(store, preprocessing, options);
  Progress progress(options.title, store.size(), "images");
  int64_t done = 0;
  while (const auto batch = feed->next()) {
    throw_if_interrupted("stopped");
    // They come in order: the device need not be asked.
    std::vector<int64_t> indexes(static_cast<size_t>(batch->images.size(0)));
    std::iota(indexes.begin(), indexes.end(), done);
    done += batch->images.size(0);
    receive(*batch, std::move(indexes));
    progress.update(done);
  }
}

}  // namespace

void predict(const models::ClassifierNetwork& network, const data::ImageStore& store,
             const data::Preprocessing& preprocessing, const InferenceOptions& options,
             const std::function<void(const BatchPrediction&)>& receive) {
  const auto run = models::make_predictor(network);
  for_each_batch(store, preprocessing, options,
                 [&](const TensorBatch& batch, std::vector<int64_t> indexes) {
                   const auto output = run(batch.images);
                   receive({std::move(indexes),
                            torch::softmax(output.logits, 1).to(torch::kCPU, torch::kFloat32),
                            output.features.to(torch::kCPU, torch::kFloat32)});
                 });
}

void visit_images(const data::ImageStore& store, const data::Preprocessing& preprocessing,
                  const InferenceOptions& options, const methods::StepContext::Visitor& visitor) {
  for_each_batch(store, preprocessing, options,
                 [&](const TensorBatch& batch, const std::vector<int64_t>&) {
                   visitor(batch.images, batch.labels);
                 });
}

methods::Predictions predict_all(const models::ClassifierNetwork& network,
                                 const data::ImageStore& store,
                                 const data::Preprocessing& preprocessing,
                                 const InferenceOptions& options) {
  methods::Predictions all;
  all.probabilities = torch::empty({store.size(), network->num_classes()});
  all.features = torch::empty({store.size(), network->feature_size()});
  int64_t done = 0;
  predict(network, store, preprocessing, options, [&](const BatchPrediction& batch) {
    const auto count = static_cast<int64_t>(batch.indexes.size());
    all.probabilities.narrow(0, done, count).copy_(batch.probabilities);
    all.features.narrow(0, done, count).copy_(batch.features);
    done += count;
  });
  return all;
}

protocol::AccuracyReport evaluate(const models::ClassifierNetwork& network,
                                  const data::ImageStore& store,
                                  const data::Preprocessing& preprocessing,
                                  InferenceOptions options) {
  std::vector<int64_t> predictions, labels;
  options.title = "evaluating";
  predict(network, store, preprocessing, options, [&](const BatchPrediction& batch) {
    const auto best = batch.probabilities.argmax(1);
    const auto* values = best.data_ptr<int64_t>();
    predictions.insert(predictions.end(), values, values + best.numel());
    for (const int64_t index : batch.indexes) labels.push_back(store.sample(index).label);
  });
  return protocol::measure_accuracy(predictions, labels, network->num_classes());
}

}  // namespace proca::engine
