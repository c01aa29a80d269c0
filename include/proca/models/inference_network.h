#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

#include "proca/models/classifier_network.h"
#include "proca/models/layer_graph.h"

namespace proca::models {

/// A graph and the tensors its layers refer to, by name.
struct BoundGraph {
  LayerGraph graph;
  std::map<std::string, torch::Tensor> tensors;
};

/// Takes every batch-norm out of a graph by scaling the convolution (or linear layer)
/// before it.
/// In evaluation mode a batch-norm is one multiplication and one addition per
/// channel, so with s = weight / sqrt(running_var + epsilon)
///
///     batch_norm(convolution(x, W)) = convolution(x, s W) + (bias - s running_mean).
///
/// The result equals evaluation mode up to rounding. Its tensors are copies:
/// training the network afterwards does not change them.
///
/// Every batch-norm must directly follow such a layer that nobody else reads.
BoundGraph fold_batch_norms(const LayerGraph& graph,
                            const std::map<std::string, torch::Tensor>& tensors);

/// Runs a graph for prediction: without gradients, channels-last, with ReLU and
/// addition in place, and with intermediate results freed after their last use.
///
/// Example:
/// ```
/// const InferenceNetwork predict(fold_batch_norms(describe(network), network->state()));
/// const auto probabilities = predict(images).logits.softmax(1);
/// ```
class InferenceNetwork {
 public:
  /// `bound` must hold no batch-norms. Runs on the device of its tensors.
  explicit InferenceNetwork(const BoundGraph& bound);

  /// float [N, 3, H, W] -> as `ClassifierNetworkImpl::forward` in evaluation mode.
  NetworkOutput operator()(const torch::Tensor& images) const;

 private:
  // A layer with its names resolved: values live in numbered slots.
  struct Step {
    Layer layer;
    std::vector<size_t> inputs;
    size_t output = 0;
    torch::Tensor weight, bias;
    bool in_place = false;               // The first input may be overwritten.
    std::vector<size_t> finished_after;  // Slots nobody reads any more.
  };
  static torch::Tensor apply(const Step& step, std::vector<torch::Tensor>& values);

  std::vector<Step> steps_;
  size_t features_ = 0, logits_ = 0;
};

/// Anything that maps images to what a network says about them.
using Predictor = std::function<NetworkOutput(const torch::Tensor&)>;

/// The fastest way to predict with a network as it is now: folded where its
/// layers are known; else (a script) the network itself, put into evaluation
/// mode for the length of each call. No gradients in either case.
///
/// Folding costs some tens of milliseconds for a resnet50; make a predictor
/// once per pass over a data set, and a new one after training on.
Predictor make_predictor(const ClassifierNetwork& network);

}  // namespace proca::models
