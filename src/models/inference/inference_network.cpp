#include "models/inference/inference_network.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/fused_convolution.h"
#include "kernels/winograd.h"

namespace proca::models {
namespace {

// How many layers read each value. The two results of the network count as read by
// the caller, so they are neither overwritten nor freed.
std::unordered_map<std::string, int64_t> count_readers(const LayerGraph& graph) {
  std::unordered_map<std::string, int64_t> readers;
  for (const auto& layer : graph.layers) {
    for (const auto& input : layer.inputs) ++readers[input];
  }
  ++readers[graph.features];
  ++readers[graph.logits];
  return readers;
}

torch::Tensor channels_last(const torch::Tensor& tensor, torch::ScalarType dtype) {
  return tensor.to(tensor.options().dtype(dtype), /*non_blocking=*/false, /*copy=*/false,
                   torch::MemoryFormat::ChannelsLast);
}

}  // namespace

BoundGraph fold_batch_norms(const LayerGraph& graph,
                            const std::map<std::string, torch::Tensor>& tensors) {
  torch::NoGradGuard no_grad;
  const auto readers = count_readers(graph);
  BoundGraph folded{.graph = {.layers = {}, .features = graph.features, .logits = graph.logits},
                    .tensors = {}};
  std::unordered_map<std::string, std::string> renamed;  // batch-norm -> what it was folded into
  std::unordered_map<std::string, LayerKind> kinds;
  for (Layer layer : graph.layers) {
    kinds[layer.name] = layer.kind;
    for (auto& input : layer.inputs) {
      if (const auto found = renamed.find(input); found != renamed.end()) input = found->second;
    }
    if (layer.kind != LayerKind::kBatchNorm) {
      for (const char* part : {".weight", ".bias"}) {
        const auto found = tensors.find(layer.name + part);
        if (found != tensors.end()) folded.tensors[found->first] = found->second.detach();
      }
      folded.graph.layers.push_back(std::move(layer));
      continue;
    }
    const auto& before = layer.inputs.front();  // a convolution or a linear layer
    const auto kind = kinds[before];
    TORCH_CHECK(
        (kind == LayerKind::kConvolution || kind == LayerKind::kLinear) && readers.at(before) == 1,
        "batch-norm ", layer.name, " does not follow a layer of its own to be folded into");
    // In double precision: rounding happens once, and for every pixel.
    const auto of = [&](const char* part) {
      return tensors.at(layer.name + part).detach().to(torch::kFloat64);
    };
    const auto scale = of(".weight") / (of(".running_var") + layer.epsilon).sqrt();
    const auto shift = of(".bias") - scale * of(".running_mean");
    auto& weight = folded.tensors.at(before + ".weight");
    auto& bias = folded.tensors[before + ".bias"];
    bias = (bias.defined() ? shift + scale * bias : shift).to(weight.scalar_type());
    std::vector<int64_t> by_output(static_cast<size_t>(weight.dim()), 1);
    by_output.front() = -1;
    weight = (weight * scale.view(by_output)).to(weight.scalar_type());
    renamed[layer.name] = before;
    if (folded.graph.features == layer.name) folded.graph.features = before;
  }
  // Tensors that were not folded still belong to the network, whose training may continue.
  for (auto& [name, tensor] : folded.tensors) {
    const auto own = tensors.find(name);
    if (own != tensors.end() && tensor.is_alias_of(own->second)) tensor = tensor.clone();
  }
  return folded;
}

InferenceNetwork::InferenceNetwork(const BoundGraph& bound, torch::ScalarType dtype)
    : dtype_(dtype) {
  const auto readers = count_readers(bound.graph);
  std::unordered_map<std::string, size_t> slots = {{LayerGraph::kInput, 0}};
  for (const auto& layer : bound.graph.layers) {
    TORCH_CHECK(layer.kind != LayerKind::kBatchNorm, "batch-norm ", layer.name, " was not folded");
    if (!fuse(layer, readers, slots)) append(layer, bound, slots);
  }
  features_ = slots.at(bound.graph.features);
  logits_ = slots.at(bound.graph.logits);
  plan_memory();
}

void InferenceNetwork::append(const Layer& layer, const BoundGraph& bound,
                              std::unordered_map<std::string, size_t>& slots) {
  Step step{.layer = layer, .inputs = {}, .output = steps_.size() + 1};
  for (const auto& input : layer.inputs) step.inputs.push_back(slots.at(input));
  const auto tensor = [&](const char* part) {
    const auto found = bound.tensors.find(layer.name + part);
    if (found == bound.tensors.end()) return torch::Tensor();
    if (layer.kind != LayerKind::kConvolution) return found->second;
    return found->second.dim() == 4 ? channels_last(found->second, dtype_)
                                    : found->second.to(dtype_);
  };
  step.weight = tensor(".weight");
  step.bias = tensor(".bias");
  if (layer.kind == LayerKind::kConvolution && layer.stride == 1) {
    step.transformed = kernels::winograd_weight(step.weight);
  }
  slots[layer.name] = step.output;
  steps_.push_back(std::move(step));
}

// Fuses an addition or a ReLU with the convolution that it directly follows, if no other layer
// reads the result of that. The other addend must be computed before the convolution.
bool InferenceNetwork::fuse(const Layer& layer,
                            const std::unordered_map<std::string, int64_t>& readers,
                            std::unordered_map<std::string, size_t>& slots) {
  if (layer.kind != LayerKind::kRelu && layer.kind != LayerKind::kAdd) return false;
  const auto& last =
      *std::max_element(layer.inputs.begin(), layer.inputs.end(),
                        [&](const auto& a, const auto& b) { return slots.at(a) < slots.at(b); });
  const size_t slot = slots.at(last);
  if (slot == 0 || readers.at(last) != 1) return false;
  auto& step = steps_[slot - 1];
  if (step.layer.kind != LayerKind::kConvolution || step.relu) return false;
  if (layer.kind == LayerKind::kRelu) {
    step.relu = true;
  } else {
    if (step.inputs.size() > 1) return false;
    const auto& other = layer.inputs[layer.inputs.front() == last ? 1 : 0];
    step.inputs.push_back(slots.at(other));
  }
  slots[layer.name] = slot;
  return true;
}

// From the last step to the first: the first reader found is the last to run.
void InferenceNetwork::plan_memory() {
  // Images and results belong to the caller; everything else may be overwritten and freed.
  std::unordered_set<size_t> needed = {0, features_, logits_};
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    step->in_place = !needed.contains(step->inputs.front());
    for (const size_t slot : step->inputs) {
      if (needed.insert(slot).second) step->finished_after.push_back(slot);
    }
  }
}

torch::Tensor InferenceNetwork::apply(const Step& step, std::vector<torch::Tensor>& values) {
  const auto& layer = step.layer;
  auto& input = values[step.inputs.front()];
  switch (layer.kind) {
    case LayerKind::kConvolution:
      return kernels::run_fused({.weight = step.weight,
                                 .bias = step.bias,
                                 .stride = layer.stride,
                                 .padding = layer.padding,
                                 .relu = step.relu,
                                 .transformed = step.transformed},
                                input,
                                step.inputs.size() > 1 ? values[step.inputs[1]] : torch::Tensor());
    case LayerKind::kRelu:
      return step.in_place ? input.relu_() : input.relu();
    case LayerKind::kElu:
      return torch::elu(input);
    case LayerKind::kMaxPool:
      return torch::max_pool2d(input, layer.kernel, layer.stride, layer.padding);
    case LayerKind::kAdd: {
      const auto& other = values[step.inputs.at(1)];
      return step.in_place ? input.add_(other) : input.add(other);
    }
    case LayerKind::kGlobalAveragePool:
      return input.mean({2, 3}, /*keepdim=*/false, torch::kFloat32);
    case LayerKind::kLinear:
      return torch::linear(input, step.weight, step.bias);
    case LayerKind::kBatchNorm:
      break;
  }
  TORCH_CHECK(false, "layer ", layer.name, " cannot be run");
}

NetworkOutput InferenceNetwork::operator()(const torch::Tensor& images) const {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> values(steps_.size() + 1);
  values[0] = channels_last(images, dtype_);
  for (const auto& step : steps_) {
    values[step.output] = apply(step, values);
    for (const size_t slot : step.finished_after) values[slot].reset();
  }
  return {.features = values[features_], .logits = values[logits_]};
}

Predictor make_predictor(const ClassifierNetwork& network, torch::ScalarType dtype) {
  if (is_describable(network)) {
    return InferenceNetwork(fold_batch_norms(describe(network), network->state()), dtype);
  }
  return [network = ClassifierNetwork(network)](const torch::Tensor& images) mutable {
    torch::NoGradGuard no_grad;
    const bool training = network->is_training();
    network->eval();
    auto output = network->forward(images);
    network->train(training);
    return output;
  };
}

}  // namespace proca::models
