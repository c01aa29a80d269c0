#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <torch/types.h>

#include "proca/compute/device.h"
#include "proca/data/image_store.h"
#include "proca/data/preprocessing.h"
#include "proca/methods/method.h"
#include "proca/models/classifier_network.h"
#include "proca/protocol/metrics.h"

namespace proca::training {
class DeviceImages;
}

namespace proca::engine {

/// How to run a network over images.
struct InferenceOptions {
  torch::Device device = torch::kCPU;
  int64_t batch_size = 32;
  compute::Precision precision = compute::Precision::kTf32;  ///< of the network, on a GPU
  training::DeviceImages* images = nullptr;  ///< where images are kept on the device; may be null
  int64_t threads = 1;                       ///< that prepare batches while the network computes
  std::string title = "predicting";
  /// With several ranks each runs the network on its share of the images; `visit_images` and
  /// `predict`, which hand over batches, have all images on every rank.
  compute::Ranks* ranks = nullptr;
};

/// The options for these options of computing, which must outlive them (`ranks`). The batch
/// size keeps a GPU busy, and stays in the caches of a CPU. Throws as `compute::choose_device`.
InferenceOptions inference_options(const compute::ComputeOptions& compute,
                                   training::DeviceImages* images = nullptr);

/// The network's outputs on a part of a store, on the CPU.
struct BatchPrediction {
  std::vector<int64_t> indexes;  ///< in the store, ascending
  torch::Tensor probabilities;   ///< float [N, K]
  torch::Tensor features;        ///< float [N, D]
};

/// Runs the network in evaluation mode (batch-norm folded into the convolutions
/// where possible) over all images of the store, in order, and hands every
/// batch to `receive`. Restores the network's mode afterwards.
void predict(const models::ClassifierNetwork& network, const data::ImageStore& store,
             const data::Preprocessing& preprocessing, const InferenceOptions& options,
             const std::function<void(const BatchPrediction&)>& receive);

/// All images of the store in order, batch by batch, as the network sees them in
/// evaluation, on the options' device. Without gradients.
void visit_images(const data::ImageStore& store, const data::Preprocessing& preprocessing,
                  const InferenceOptions& options,
                  const methods::StepContext::BatchFunction& function);

/// The network's outputs on all images of the store, in order, on the CPU. Nothing is read
/// back from a GPU before the last image.
methods::Predictions predict_all(const models::ClassifierNetwork& network,
                                 const data::ImageStore& store,
                                 const data::Preprocessing& preprocessing,
                                 const InferenceOptions& options);

/// The mean feature of each class over the labelled images of the store, float [K, D] on
/// the options' device.
torch::Tensor feature_centres(const models::ClassifierNetwork& network,
                              const data::ImageStore& store,
                              const data::Preprocessing& preprocessing,
                              const InferenceOptions& options);

/// The same for pixels, uint8 [N, H, W, 3] on the CPU.
methods::Predictions predict_pixels(const models::ClassifierNetwork& network,
                                    const torch::Tensor& pixels,
                                    const data::Preprocessing& preprocessing,
                                    const InferenceOptions& options);

/// The result of `evaluate_with_features`.
struct Evaluation {
  protocol::AccuracyReport report;
  std::vector<int64_t> predictions;  ///< of all images of the store
  torch::Tensor features;            ///< float [n, D] on the CPU: of the chosen images
};

/// As `evaluate`, with the features of the images `chosen` (ascending indexes) from the same
/// pass.
Evaluation evaluate_with_features(const models::ClassifierNetwork& network,
                                  const data::ImageStore& store,
                                  const data::Preprocessing& preprocessing,
                                  InferenceOptions options, const std::vector<int64_t>& chosen);

/// The accuracy of the network's most probable class, over all classes, on the
/// labelled images of the store.
protocol::AccuracyReport evaluate(const models::ClassifierNetwork& network,
                                  const data::ImageStore& store,
                                  const data::Preprocessing& preprocessing,
                                  InferenceOptions options);

}  // namespace proca::engine
