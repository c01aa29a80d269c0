#include "proca/models/layer_graph.h"

#include <utility>

#include "proca/core/error.h"
#include "proca/models/resnet.h"

namespace proca::models {

std::string LayerGraph::append(Layer layer) {
  layers.push_back(std::move(layer));
  return layers.back().name;
}

bool is_describable(const ClassifierNetwork& network) {
  return dynamic_cast<const ResNet*>(network->backbone().get()) != nullptr;
}

LayerGraph describe(const ClassifierNetwork& network) {
  const auto* resnet = dynamic_cast<const ResNet*>(network->backbone().get());
  if (resnet == nullptr) {
    throw InputError(
        "the network cannot be exported to ONNX: its backbone is a script; "
        "torchscript and safetensors can hold it");
  }
  LayerGraph graph;
  graph.features = resnet->describe(graph);
  graph.logits =
      graph.append({.kind = LayerKind::kLinear, .name = "fc", .inputs = {graph.features}});
  return graph;
}

}  // namespace proca::models
