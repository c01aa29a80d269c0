#include <fmt/format.h>

#include "models/nets/layer_graph.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/models/export.h"

#ifdef PROCA_WITH_ONNX

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

namespace proca::models {
namespace {

constexpr int64_t kOperatorSet = 13;
constexpr int64_t kFormatVersion = 7;  // the one of operator set 13

void describe_value(onnx::ValueInfoProto& value, const std::string& name,
                    std::vector<int64_t> sizes) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const int64_t size : sizes) type.mutable_shape()->add_dim()->set_dim_value(size);
}

void add_tensor(onnx::GraphProto& graph, const std::string& name, const torch::Tensor& live) {
  const auto tensor = live.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  auto& initializer = *graph.add_initializer();
  initializer.set_name(name);
  initializer.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : tensor.sizes()) initializer.add_dims(size);
  initializer.set_raw_data(tensor.data_ptr(), tensor.nbytes());
}

void set_attribute(onnx::NodeProto& node, const char* name, int64_t value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set_attribute(onnx::NodeProto& node, const char* name, std::vector<int64_t> values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

onnx::NodeProto& add_node(onnx::GraphProto& graph, const char* type, const std::string& name,
                          const std::vector<std::string>& inputs) {
  auto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(name);
  for (const auto& input : inputs) node.add_input(input);
  node.add_output(name);
  return node;
}

void set_window(onnx::NodeProto& node, const Layer& layer) {
  const auto [kernel, stride, padding] = std::array{layer.kernel, layer.stride, layer.padding};
  set_attribute(node, "kernel_shape", {kernel, kernel});
  set_attribute(node, "strides", {stride, stride});
  set_attribute(node, "pads", {padding, padding, padding, padding});
}

// Adds a layer's node and the tensors it reads.
void add_layer(onnx::GraphProto& graph, const Layer& layer,
               const std::map<std::string, torch::Tensor>& tensors) {
  auto inputs = layer.inputs;
  const auto read = [&](const char* part) {
    inputs.push_back(layer.name + part);
    add_tensor(graph, inputs.back(), tensors.at(inputs.back()));
  };
  switch (layer.kind) {
    case LayerKind::kConvolution:
      read(".weight");
      set_window(add_node(graph, "Conv", layer.name, inputs), layer);
      return;
    case LayerKind::kBatchNorm: {
      for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) read(part);
      auto& node = add_node(graph, "BatchNormalization", layer.name, inputs);
      auto& epsilon = *node.add_attribute();
      epsilon.set_name("epsilon");
      epsilon.set_type(onnx::AttributeProto::FLOAT);
      epsilon.set_f(static_cast<float>(layer.epsilon));
      return;
    }
    case LayerKind::kMaxPool:
      set_window(add_node(graph, "MaxPool", layer.name, inputs), layer);
      return;
    case LayerKind::kRelu:
      add_node(graph, "Relu", layer.name, inputs);
      return;
    case LayerKind::kElu:
      add_node(graph, "Elu", layer.name, inputs);
      return;
    case LayerKind::kAdd:
      add_node(graph, "Add", layer.name, inputs);
      return;
    case LayerKind::kGlobalAveragePool: {
      // ONNX keeps the two averaged dimensions; flattening drops them.
      const auto pooled = layer.name + ".pooled";
      add_node(graph, "GlobalAveragePool", pooled, inputs);
      set_attribute(add_node(graph, "Flatten", layer.name, {pooled}), "axis", 1);
      return;
    }
    case LayerKind::kLinear:
      read(".weight");
      read(".bias");
      set_attribute(add_node(graph, "Gemm", layer.name, inputs), "transB", 1);
      return;
  }
  TORCH_CHECK(false, "layer ", layer.name, " has no ONNX operator");
}

onnx::ModelProto build(const ClassifierNetwork& network, const ExportInfo& info) {
  onnx::ModelProto model;
  model.set_ir_version(kFormatVersion);
  model.set_producer_name("proca");
  auto& operator_set = *model.add_opset_import();
  operator_set.set_domain("");
  operator_set.set_version(kOperatorSet);
  auto metadata = export_metadata(network, info);
  metadata["format"] = "onnx";
  for (const auto& [key, value] : metadata) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }

  auto& graph = *model.mutable_graph();
  graph.set_name("classifier");
  describe_value(*graph.add_input(), LayerGraph::kInput, {3, info.image_size, info.image_size});
  const auto tensors = network->state();
  const auto layers = describe(network);
  for (const auto& layer : layers.layers) add_layer(graph, layer, tensors);
  add_node(graph, "Identity", "logits", {layers.logits});
  set_attribute(add_node(graph, "Softmax", "probabilities", {layers.logits}), "axis", 1);
  for (const char* output : {"logits", "probabilities"}) {
    describe_value(*graph.add_output(), output, {network->num_classes()});
  }
  return model;
}

}  // namespace

bool has_onnx_export() { return true; }

void export_onnx(const std::filesystem::path& path, const ClassifierNetwork& network,
                 const ExportInfo& info) {
  const auto model = build(network, info);
  onnx::checker::check_model(model);
  write_file(path, model.SerializeAsString());
}

}  // namespace proca::models

#else

namespace proca::models {

bool has_onnx_export() { return false; }

void export_onnx(const std::filesystem::path& path, const ClassifierNetwork&, const ExportInfo&) {
  throw InputError(fmt::format("{}: this proca was built without ONNX (libonnx-dev was missing)",
                               path.string()));
}

}  // namespace proca::models

#endif
