#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proca/models/classifier_network.h"

namespace proca::models {

/// The operations a network of this project consists of.
enum class LayerKind {
  kConvolution,  ///< square kernel, zero padding; `<name>.weight`, and `<name>.bias` if it has one
  kBatchNorm,    ///< `<name>.weight`, `.bias`, `.running_mean`, `.running_var`
  kRelu,         ///< max(x, 0)
  kElu,          ///< x, or exp(x) - 1 where x is negative
  kMaxPool,      ///< square window, padded with minus infinity
  kAdd,          ///< sum of two inputs
  kGlobalAveragePool,  ///< [N, C, H, W] -> [N, C]
  kLinear,             ///< `<name>.weight` [K, D], `<name>.bias` [K]
};

/// One operation. Its result is known to later layers by the layer's own name,
/// which is also the prefix of its tensors in `ClassifierNetworkImpl::state()`.
struct Layer {
  LayerKind kind = LayerKind::kRelu;
  std::string name;                 ///< `layer1.0.conv1`; unique in the graph
  std::vector<std::string> inputs;  ///< names of earlier layers, or `LayerGraph::kInput`
  int64_t kernel = 1;               ///< convolution and max-pool
  int64_t stride = 1;               ///< convolution and max-pool
  int64_t padding = 0;              ///< convolution and max-pool
  double epsilon = 1e-5;            ///< batch-norm
};

/// A network as a list of operations, each after the ones it reads from, for
/// exports and folded inference.
///
/// Training does not use it; the modules' own `forward` does that.
struct LayerGraph {
  /// The name of the images, float [N, 3, H, W], normalised.
  static constexpr const char* kInput = "images";

  std::vector<Layer> layers;
  std::string features;  ///< the layer whose result is `NetworkOutput::features`
  std::string logits;    ///< the layer whose result is `NetworkOutput::logits`

  /// Appends a layer and returns its name, to be the input of the next one.
  std::string append(Layer layer);
};

/// Lists the operations of a network whose backbone is one of
/// `backbone_names()`. Only names and sizes are recorded; the tensors are those
/// of `network->state()`.
///
/// Throws `InputError` for a script backbone, whose operations are not known:
/// such a network cannot be exported to ONNX.
LayerGraph describe(const ClassifierNetwork& network);

/// Appends the layers of a neck, `neck.0`, `neck.1`, ..., behind `graph.features`, which
/// is the last of them afterwards. Nothing for an empty one.
void append_neck(LayerGraph& graph, const Neck& neck);

/// Whether `describe` knows this network, that is, whether its backbone is not
/// a script.
bool is_describable(const ClassifierNetwork& network);

}  // namespace proca::models
