#include "proca/engine/inference.h"

#include <algorithm>
#include <future>
#include <numeric>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <torch/types.h>

#include "adaptation/source_centres.h"
#include "core/progress.h"
#include "core/scope_timer.h"
#include "models/inference/inference_network.h"
#include "models/weights/device_copy.h"
#include "proca/compute/precision.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "training/feeds/device_images.h"
#include "training/feeds/image_tensors.h"
#include "training/feeds/loader_feed.h"

namespace proca::engine {

namespace {

compute::Share share_of(const data::ImageStore& store, const InferenceOptions& options) {
  return options.ranks != nullptr ? options.ranks->share_of(store.size())
                                  : compute::Share{0, store.size()};
}

std::unique_ptr<training::BatchFeed> open_feed(const data::ImageStore& store,
                                               const compute::Share& share,
                                               const data::Preprocessing& preprocessing,
                                               const InferenceOptions& options) {
  training::FeedPlan plan{.batches = data::ordered_batches(share.count, options.batch_size),
                          .augmentation = preprocessing.centre_crop()};
  for (auto& batch : plan.batches) {
    for (int64_t& index : batch) index += share.first;
  }
  plan.epochs.assign(plan.batches.size(), 0);
  if (options.images != nullptr) return options.images->feed(store, std::move(plan), preprocessing);
  return std::make_unique<training::LoaderFeed>(store, std::move(plan), preprocessing,
                                                options.device, options.threads);
}

// The same on another thread, because images that are not on the device yet may be many.
std::future<std::unique_ptr<training::BatchFeed>> begin_feed(
    const data::ImageStore& store, const compute::Share& share,
    const data::Preprocessing& preprocessing, const InferenceOptions& options) {
  const auto open = [&store, share, &preprocessing, &options] {
    return open_feed(store, share, preprocessing, options);
  };
  if (options.device.is_cpu()) return std::async(std::launch::deferred, open);
  // On the caller's stream, so that the copies come before what the caller computes.
  const auto stream = c10::impl::VirtualGuardImpl(options.device.type()).getStream(options.device);
  return std::async(std::launch::async, [open, stream] {
    const c10::StreamGuard same(stream);
    return open();
  });
}

void for_each_batch(
    training::BatchFeed& feed, const compute::Share& share, const InferenceOptions& options,
    const std::function<void(const training::TensorBatch&, std::vector<int64_t>)>& receive) {
  const torch::NoGradGuard no_grad;
  // The autocast of a training iteration must not reach into a pass that a method asks for.
  const compute::AutocastScope precise(compute::Precision::kTf32, options.device);
  Progress progress(options.title, share.count, "images");
  int64_t done = 0;
  while (const auto batch = feed.next()) {
    throw_if_interrupted("stopped");
    // Batches come in order, so their indexes need not be read back from the device.
    std::vector<int64_t> indexes(static_cast<size_t>(batch->images.size(0)));
    std::iota(indexes.begin(), indexes.end(), share.first + done);
    done += batch->images.size(0);
    receive(*batch, std::move(indexes));
    progress.update(done);
  }
}

// On a GPU cuDNN takes longer to choose algorithms for a new batch size than to compute a full
// batch. So there are only two sizes, a small one and the full one; zeros fill the rest.
torch::Tensor filled_up(const torch::Tensor& images, int64_t num_images,
                        const InferenceOptions& options) {
  constexpr int64_t kFew = 32;
  if (!options.device.is_cuda()) return images;
  const int64_t count = images.size(0);
  const int64_t wanted =
      num_images <= kFew ? std::min(kFew, options.batch_size) : options.batch_size;
  if (count >= wanted) return images;
  return torch::constant_pad_nd(images, {0, 0, 0, 0, 0, 0, 0, wanted - count});
}

// The network's outputs on a share of the images, batch by batch, on its device.
void for_each_output(
    const models::ClassifierNetwork& network, const data::ImageStore& store,
    const compute::Share& share, const data::Preprocessing& preprocessing,
    const InferenceOptions& options,
    const std::function<void(const models::NetworkOutput&, std::vector<int64_t>)>& receive) {
  const ScopeTimer timer(options.title);
  auto opening = begin_feed(store, share, preprocessing, options);
  const auto run =
      models::make_predictor(network, compute::inference_dtype(options.precision, options.device));
  const auto feed = opening.get();
  for_each_batch(*feed, share, options,
                 [&](const training::TensorBatch& batch, std::vector<int64_t> indexes) {
                   const int64_t count = batch.images.size(0);
                   const auto output = run(filled_up(batch.images, store.size(), options));
                   receive({output.features.narrow(0, 0, count), output.logits.narrow(0, 0, count)},
                           std::move(indexes));
                 });
}

torch::Tensor probabilities_of(const models::NetworkOutput& output) {
  return torch::softmax(output.logits, 1, torch::kFloat32);
}

// Weights that are finite can still give numbers that are not.
[[noreturn]] void refuse_answer(const std::string& image) {
  throw InputError(fmt::format(
      "{}: the network's output is not a finite number; its weights cannot be used", image));
}

std::vector<int64_t> labels_of(const data::ImageStore& store, const std::vector<int64_t>& indexes) {
  std::vector<int64_t> labels;
  for (const int64_t index : indexes) labels.push_back(store.sample(index).label);
  return labels;
}

}  // namespace

InferenceOptions inference_options(const compute::ComputeOptions& compute,
                                   training::DeviceImages* images) {
  const auto device = compute::choose_device(compute);
  return {.device = device,
          .batch_size = device.is_cuda() ? 256 : 32,
          .precision = compute.precision,
          .images = images,
          .threads = compute.resolved_threads(),
          .ranks = compute.ranks.get()};
}

void predict(const models::ClassifierNetwork& network, const data::ImageStore& store,
             const data::Preprocessing& preprocessing, const InferenceOptions& options,
             const std::function<void(const BatchPrediction&)>& receive) {
  for_each_output(network, store, {0, store.size()}, preprocessing, options,
                  [&](const models::NetworkOutput& output, std::vector<int64_t> indexes) {
                    const auto probabilities = probabilities_of(output).to(torch::kCPU);
                    const auto is_finite = torch::isfinite(probabilities).all(1).contiguous();
                    for (size_t i = 0; i < indexes.size(); ++i) {
                      if (is_finite.data_ptr<bool>()[i]) continue;
                      refuse_answer(store.sample(indexes[i]).path);
                    }
                    receive({std::move(indexes), probabilities,
                             output.features.to(torch::kCPU, torch::kFloat32)});
                  });
}

void visit_images(const data::ImageStore& store, const data::Preprocessing& preprocessing,
                  const InferenceOptions& options,
                  const methods::StepContext::BatchFunction& function) {
  const compute::Share all{0, store.size()};
  const auto feed = open_feed(store, all, preprocessing, options);
  for_each_batch(*feed, all, options,
                 [&](const training::TensorBatch& batch, const std::vector<int64_t>&) {
                   function(batch.images, batch.labels);
                 });
}

methods::Predictions predict_all(const models::ClassifierNetwork& network,
                                 const data::ImageStore& store,
                                 const data::Preprocessing& preprocessing,
                                 const InferenceOptions& options) {
  const auto on_device = torch::dtype(torch::kFloat32).device(options.device);
  const auto probabilities = torch::zeros({store.size(), network->num_classes()}, on_device);
  const auto features = torch::zeros({store.size(), network->feature_size()}, on_device);
  for_each_output(network, store, share_of(store, options), preprocessing, options,
                  [&](const models::NetworkOutput& output, const std::vector<int64_t>& indexes) {
                    const auto count = static_cast<int64_t>(indexes.size());
                    probabilities.narrow(0, indexes.front(), count).copy_(probabilities_of(output));
                    features.narrow(0, indexes.front(), count).copy_(output.features);
                  });
  if (options.ranks != nullptr) {
    options.ranks->complete(probabilities);
    options.ranks->complete(features);
  }
  return {.probabilities = probabilities.to(torch::kCPU), .features = features.to(torch::kCPU)};
}

torch::Tensor feature_centres(const models::ClassifierNetwork& network,
                              const data::ImageStore& store,
                              const data::Preprocessing& preprocessing,
                              const InferenceOptions& options) {
  adaptation::ClassCentres centres(network->num_classes(), network->feature_size(), options.device);
  for_each_output(network, store, share_of(store, options), preprocessing, options,
                  [&](const models::NetworkOutput& output, const std::vector<int64_t>& indexes) {
                    centres.add(output.features,
                                torch::tensor(labels_of(store, indexes), torch::kInt64));
                  });
  if (options.ranks != nullptr) centres.add_up(*options.ranks);
  return centres.centres();
}

methods::Predictions predict_pixels(const models::ClassifierNetwork& network,
                                    const torch::Tensor& pixels,
                                    const data::Preprocessing& preprocessing,
                                    const InferenceOptions& options) {
  const torch::NoGradGuard no_grad;
  const compute::AutocastScope precise(compute::Precision::kTf32, options.device);
  const auto run =
      models::make_predictor(network, compute::inference_dtype(options.precision, options.device));
  const auto on_device = torch::dtype(torch::kFloat32).device(options.device);
  const auto probabilities = torch::empty({pixels.size(0), network->num_classes()}, on_device);
  const auto features = torch::empty({pixels.size(0), network->feature_size()}, on_device);
  for (int64_t done = 0; done < pixels.size(0); done += options.batch_size) {
    const int64_t count = std::min(options.batch_size, pixels.size(0) - done);
    const auto images =
        training::to_network_input(pixels.narrow(0, done, count), preprocessing, options.device);
    const auto output = run(filled_up(images, pixels.size(0), options));
    probabilities.narrow(0, done, count).copy_(probabilities_of(output).narrow(0, 0, count));
    features.narrow(0, done, count).copy_(output.features.narrow(0, 0, count));
  }
  return {.probabilities = probabilities.to(torch::kCPU), .features = features.to(torch::kCPU)};
}

Evaluation evaluate_with_features(const models::ClassifierNetwork& network,
                                  const data::ImageStore& store,
                                  const data::Preprocessing& preprocessing,
                                  InferenceOptions options, const std::vector<int64_t>& chosen) {
  const auto best =
      torch::zeros({store.size()}, torch::dtype(torch::kInt64).device(options.device));
  const auto features = torch::zeros({static_cast<int64_t>(chosen.size()), network->feature_size()},
                                     torch::dtype(torch::kFloat32).device(options.device));
  const auto share = share_of(store, options);
  // Those before this rank's share belong to other ranks.
  auto num_taken = static_cast<size_t>(std::lower_bound(chosen.begin(), chosen.end(), share.first) -
                                       chosen.begin());
  options.title = "evaluating";
  // Of all batches together: reading back each would make a GPU wait.
  const auto all_finite = torch::ones({}, torch::dtype(torch::kBool).device(options.device));
  for_each_output(
      network, store, share, preprocessing, options,
      [&](const models::NetworkOutput& output, const std::vector<int64_t>& indexes) {
        all_finite.logical_and_(torch::isfinite(output.logits).all());
        best.narrow(0, indexes.front(), output.logits.size(0))
            .copy_(probabilities_of(output).argmax(1));
        std::vector<int64_t> rows;
        const auto first = static_cast<int64_t>(num_taken);
        while (num_taken < chosen.size() && chosen[num_taken] <= indexes.back()) {
          rows.push_back(chosen[num_taken++] - indexes.front());
        }
        if (rows.empty()) return;
        features.narrow(0, first, static_cast<int64_t>(rows.size()))
            .copy_(output.features.index_select(0, models::copy_to(rows, options.device)));
      });
  if (options.ranks != nullptr) {
    options.ranks->complete(best);
    options.ranks->complete(features);
  }
  if (!all_finite.item<bool>()) refuse_answer(store.origin());
  const auto predictions = best.to(torch::kCPU);
  const auto* values = predictions.data_ptr<int64_t>();
  Evaluation evaluation{.report = {},
                        .predictions = {values, values + predictions.numel()},
                        .features = features.to(torch::kCPU)};
  std::vector<int64_t> all(static_cast<size_t>(store.size()));
  std::iota(all.begin(), all.end(), int64_t{0});
  evaluation.report = protocol::measure_accuracy(evaluation.predictions, labels_of(store, all),
                                                 network->num_classes());
  return evaluation;
}

protocol::AccuracyReport evaluate(const models::ClassifierNetwork& network,
                                  const data::ImageStore& store,
                                  const data::Preprocessing& preprocessing,
                                  InferenceOptions options) {
  return evaluate_with_features(network, store, preprocessing, std::move(options), {}).report;
}

}  // namespace proca::engine
