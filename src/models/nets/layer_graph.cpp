#include "models/nets/layer_graph.h"

#include <string>
#include <utility>

#include "models/nets/resnet.h"
#include "proca/core/error.h"

namespace proca::models {

std::string LayerGraph::append(Layer layer) {
  layers.push_back(std::move(layer));
  return layers.back().name;
}

void append_neck(LayerGraph& graph, const Neck& neck) {
  if (neck.is_empty()) return;
  const auto kind_of = [](NeckImpl::Kind kind) {
    switch (kind) {
      case NeckImpl::Kind::kLinear:
        return LayerKind::kLinear;
      case NeckImpl::Kind::kBatchNorm:
        return LayerKind::kBatchNorm;
      case NeckImpl::Kind::kRelu:
        return LayerKind::kRelu;
      case NeckImpl::Kind::kElu:
        return LayerKind::kElu;
    }
    TORCH_CHECK(false, "a layer of the neck has no description");
  };
  for (size_t i = 0; i < neck->layers().size(); ++i) {
    graph.features = graph.append({.kind = kind_of(neck->layers()[i].kind),
                                   .name = "neck." + std::to_string(i),
                                   .inputs = {graph.features}});
  }
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
  append_neck(graph, network->neck());
  graph.logits =
      graph.append({.kind = LayerKind::kLinear, .name = "fc", .inputs = {graph.features}});
  return graph;
}

}  // namespace proca::models
