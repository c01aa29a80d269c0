#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/types.h>

#include "models/nets/layer_graph.h"
#include "proca/models/classifier_network.h"

namespace proca::models {

/// A graph and the tensors its layers refer to, by name.
struct BoundGraph {
  LayerGraph graph;
  std::map<std::string, torch::Tensor> tensors;
};

/// Removes every batch-norm from a graph by scaling the convolution (or linear layer)
/// before it. In evaluation mode a batch-norm is one multiplication and one addition per
/// channel, so with s = weight / sqrt(running_var + epsilon)
///
///     batch_norm(convolution(x, W)) = convolution(x, s W) + (bias - s running_mean).
///
/// The result equals evaluation mode up to rounding. Its tensors are copies:
/// training the network afterwards does not change them.
///
/// Every batch-norm must directly follow such a layer, as its only reader.
BoundGraph fold_batch_norms(const LayerGraph& graph,
                            const std::map<std::string, torch::Tensor>& tensors);

/// Runs a graph for prediction: without gradients, channels-last, with addition and ReLU
/// done together with the convolution before them (in one kernel, or in place), and with
/// intermediate results freed after their last use.
///
/// Example:
/// ```
/// const InferenceNetwork predict(fold_batch_norms(describe(network), network->state()));
/// const auto probabilities = predict(images).logits.softmax(1);
/// ```
class InferenceNetwork {
 public:
  /// `bound` must hold no batch-norms. Runs on the device of its tensors. Everything up
  /// to the global average pool is computed in `dtype`, float or bfloat16; from there on
  /// vectors are short, and float.
  explicit InferenceNetwork(const BoundGraph& bound, torch::ScalarType dtype = torch::kFloat32);

  /// float [N, 3, H, W] -> as `ClassifierNetworkImpl::forward` in evaluation mode.
  NetworkOutput operator()(const torch::Tensor& images) const;

 private:
  // One or more layers with their names resolved: values live in numbered slots.
  struct Step {
    Layer layer;
    std::vector<size_t> inputs;  // Of a convolution, the second is added to its result.
    size_t output = 0;
    torch::Tensor weight = {}, bias = {};
    torch::Tensor transformed = {};           // the weight, for Winograd's convolution
    bool relu = false;                        // after the convolution
    bool in_place = false;                    // The first input may be overwritten.
    std::vector<size_t> finished_after = {};  // slots without further readers
  };
  void append(const Layer& layer, const BoundGraph& bound,
              std::unordered_map<std::string, size_t>& slots);
  bool fuse(const Layer& layer, const std::unordered_map<std::string, int64_t>& readers,
            std::unordered_map<std::string, size_t>& slots);
  void plan_memory();
  static torch::Tensor apply(const Step& step, std::vector<torch::Tensor>& values);

  torch::ScalarType dtype_;
  std::vector<Step> steps_;  // Step i writes slot i + 1; slot 0 has the images.
  size_t features_ = 0, logits_ = 0;
};

/// Maps images to the network's output.
using Predictor = std::function<NetworkOutput(const torch::Tensor&)>;

/// The fastest way to predict with a network as it is now: folded where its
/// layers are known; otherwise (a script) the network itself, in evaluation
/// mode during each call. No gradients in either case.
///
/// `dtype` is that of convolutions, float or bfloat16; results are float. A script
/// computes in its own.
///
/// Folding costs some tens of milliseconds for a resnet50; make a predictor
/// once per pass over a data set, and a new one after training on.
Predictor make_predictor(const ClassifierNetwork& network,
                         torch::ScalarType dtype = torch::kFloat32);

}  // namespace proca::models
