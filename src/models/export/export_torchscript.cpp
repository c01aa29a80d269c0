// A TorchScript module is a tree of tensors and a program in a subset of
// Python. The tree is built under torchvision's names; the program is generated
// from the layer graph and compiled by LibTorch.

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/script.h>
#include <nlohmann/json.hpp>

#include "models/nets/layer_graph.h"
#include "models/nets/script_backbone.h"
#include "proca/core/file.h"
#include "proca/models/export.h"

namespace proca::models {
namespace {

// What every export ends with, given `features`.
constexpr const char* kCommonMethods = R"(
def forward(self, images: Tensor) -> Tensor:
    return torch.linear(self.features(images), self.fc.weight, self.fc.bias)

def probabilities(self, images: Tensor) -> Tensor:
    return torch.softmax(self.forward(images), 1)
)";

// A script may give maps instead of vectors, as `ScriptBackbone` allows. What follows
// is the neck and the end of the function.
constexpr const char* kScriptFeatures = R"(
def features(self, images: Tensor) -> Tensor:
    output = self.backbone.forward(images)
    if output.dim() == 4:
        output = torch.mean(output, [2, 3])
)";

// Every module gets its own class name, from its place in the tree:
// LibTorch hashes types by name, and its hash table outgrows all memory when
// many different types share one.
torch::jit::Module make_module(std::string place) {
  std::replace(place.begin(), place.end(), '.', '_');
  torch::jit::Module module(fmt::format("__torch__.proca.Network{}", place));
  module.register_attribute("training", c10::BoolType::get(), false);
  return module;
}

torch::Tensor for_file(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kCPU).contiguous().clone();
}

// Puts a tensor at the end of its dotted name, creating modules on the way.
void plant(const torch::jit::Module& root, const std::string& name, const torch::Tensor& live) {
  auto module = root;
  size_t begin = 0;
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
    const auto child = name.substr(begin, dot - begin);
    if (!module.hasattr(child)) {
      module.register_module(child, make_module(fmt::format(".{}", name.substr(0, dot))));
    }
    module = module.attr(child).toModule();
    begin = dot + 1;
  }
  const auto leaf = name.substr(begin);
  if (live.requires_grad()) {
    module.register_parameter(leaf, for_file(live).set_requires_grad(true), /*is_buffer=*/false);
  } else {
    module.register_buffer(leaf, for_file(live));
  }
}

// `layer1.0.conv1` -> `getattr(self.layer1, "0").conv1`, since a number is no name.
std::string access(const std::string& name) {
  std::string expression = "self";
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '.');) {
    const bool number = std::isdigit(static_cast<unsigned char>(part.front())) != 0;
    expression = number ? fmt::format("getattr({}, \"{}\")", expression, part)
                        : fmt::format("{}.{}", expression, part);
  }
  return expression;
}

std::string variable(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string expression_of(const Layer& layer) {
  const auto input = variable(layer.inputs.front());
  const auto self = access(layer.name);
  switch (layer.kind) {
    case LayerKind::kConvolution:
      return fmt::format("torch.conv2d({0}, {1}.weight, None, [{2}, {2}], [{3}, {3}])", input, self,
                         layer.stride, layer.padding);
    case LayerKind::kBatchNorm:
      return fmt::format(
          "torch.batch_norm({0}, {1}.weight, {1}.bias, {1}.running_mean, {1}.running_var, "
          "self.training, 0.1, {2}, True)",
          input, self, layer.epsilon);
    case LayerKind::kRelu:
      return fmt::format("torch.relu_({})", input);
    case LayerKind::kElu:
      return fmt::format("torch.elu({})", input);
    case LayerKind::kMaxPool:
      return fmt::format("torch.max_pool2d({0}, [{1}, {1}], [{2}, {2}], [{3}, {3}])", input,
                         layer.kernel, layer.stride, layer.padding);
    case LayerKind::kAdd:
      return fmt::format("torch.add({}, {})", input, variable(layer.inputs.at(1)));
    case LayerKind::kGlobalAveragePool:
      return fmt::format("torch.mean({}, [2, 3])", input);
    case LayerKind::kLinear:
      return fmt::format("torch.linear({0}, {1}.weight, {1}.bias)", input, self);
  }
  TORCH_CHECK(false, "layer ", layer.name, " has no TorchScript");
}

// The layers of `graph` up to the features, behind the function's first lines.
std::string source_of_features(std::string source, const LayerGraph& graph) {
  for (const auto& layer : graph.layers) {
    source += fmt::format("    {} = {}\n", variable(layer.name), expression_of(layer));
    if (layer.name == graph.features) break;
  }
  return source + fmt::format("    return {}\n", variable(graph.features));
}

torch::jit::Module build(const ClassifierNetwork& network) {
  auto root = make_module("");
  if (const auto* script = dynamic_cast<const ScriptBackbone*>(network->backbone().get())) {
    auto copy = script->module().deepcopy();
    copy.to(torch::kCPU);
    root.register_module("backbone", copy);
    plant(root, "fc.weight", network->head()->weight);
    plant(root, "fc.bias", network->head()->bias);
    for (const auto& [name, live] : network->state()) {
      if (name.starts_with("neck.")) plant(root, name, live);
    }
    LayerGraph neck{.layers = {}, .features = "output", .logits = {}};
    append_neck(neck, network->neck());
    root.define(source_of_features(kScriptFeatures, neck));
  } else {
    for (const auto& [name, live] : network->state()) plant(root, name, live);
    root.define(
        source_of_features("def features(self, images: Tensor) -> Tensor:\n", describe(network)));
  }
  root.define(kCommonMethods);
  root.eval();
  return root;
}

}  // namespace

void export_torchscript(const std::filesystem::path& path, const ClassifierNetwork& network,
                        const ExportInfo& info) {
  // As values, not as the text that other formats have to hold.
  nlohmann::json metadata = export_metadata(network, info);
  for (const auto* key : {"class_names", "image_size", "mean", "std"}) {
    metadata[key] = nlohmann::json::parse(metadata[key].get<std::string>());
  }
  metadata["format"] = "torchscript";
  auto module = build(network);

  c10::List<std::string> class_names;
  for (const auto& name : info.class_names) class_names.push_back(name);
  const c10::List<double> mean({info.mean[0], info.mean[1], info.mean[2]});
  const c10::List<double> std({info.std[0], info.std[1], info.std[2]});
  const auto numbers = c10::ListType::create(c10::FloatType::get());
  module.register_attribute("class_names", c10::ListType::create(c10::StringType::get()),
                            class_names);
  module.register_attribute("image_size", c10::IntType::get(), info.image_size);
  module.register_attribute("mean", numbers, mean);
  module.register_attribute("std", numbers, std);

  std::ostringstream archive;
  module.save(archive, {{"proca.json", metadata.dump(2)}});
  write_file(path, archive.view());
}

}  // namespace proca::models
