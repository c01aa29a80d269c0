#include "models/nets/script_backbone.h"

#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <torch/script.h>

#include "compute/failure_text.h"
#include "models/weights/finite_check.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::models {
namespace {

namespace fs = std::filesystem;

torch::jit::Module load_script(const fs::path& path) {
  const MappedFile must_exist(path);
  try {
    return torch::jit::load(path.string(), torch::kCPU);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: is not a TorchScript module: {}", path.string(),
                                 compute::failure_text(error)));
  }
}

// Mirrors a script's tree of modules, so that nested names come out right. The
// same tensor under two names is registered once: an optimiser would otherwise
// update it twice.
void mirror(const torch::jit::Module& script, torch::nn::Module& module,
            std::unordered_set<const c10::TensorImpl*>& seen) {
  for (const auto& parameter : script.named_parameters(/*recurse=*/false)) {
    if (!seen.insert(parameter.value.unsafeGetTensorImpl()).second) continue;
    module.register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
  }
  for (const auto& buffer : script.named_buffers(/*recurse=*/false)) {
    if (!seen.insert(buffer.value.unsafeGetTensorImpl()).second) continue;
    module.register_buffer(buffer.name, buffer.value);
  }
  for (const auto& child : script.named_children()) {
    const auto mirrored = module.register_module(child.name, std::make_shared<torch::nn::Module>());
    mirror(child.value, *mirrored, seen);
  }
}

// What the script makes of one black image: a tensor of any rank.
torch::Tensor dry_run(torch::jit::Module& module, const fs::path& path) {
  torch::NoGradGuard no_grad;
  std::string failure;
  for (const int64_t size : {64, 224}) {
    torch::IValue output;
    try {
      output = module.forward({torch::zeros({1, 3, size, size})});
    } catch (const std::exception& error) {
      failure = compute::failure_text(error);
      continue;
    }
    if (output.isTensor()) return output.toTensor();
    throw InputError(fmt::format("{}: a backbone must give one tensor of features, not a {}",
                                 path.string(), output.tagKind()));
  }
  throw InputError(fmt::format("{}: fails on an image of 64 and on one of 224 pixels: {}",
                               path.string(), failure));
}

}  // namespace

ScriptBackbone::ScriptBackbone(const fs::path& path) : module_(load_script(path)) {
  std::unordered_set<const c10::TensorImpl*> seen;
  mirror(module_, *this, seen);
  NamedTensors weights;
  for (const auto& entry : named_parameters()) weights[entry.key()] = entry.value();
  for (const auto& entry : named_buffers()) weights[entry.key()] = entry.value();
  check_weights(weights, path.string());
  module_.eval();  // The dry run must leave no trace in running statistics.
  const auto output = dry_run(module_, path);
  if ((output.dim() != 2 && output.dim() != 4) || output.size(0) != 1 || output.size(1) < 1) {
    throw InputError(fmt::format(
        "{}: a backbone must give [N, D] or [N, D, h, w] for N images; for one it gives {}",
        path.string(), c10::str(output.sizes())));
  }
  feature_size_ = output.size(1);
  train(true);
}

torch::Tensor ScriptBackbone::forward(const torch::Tensor& images) {
  auto output = module_.forward({images}).toTensor();
  return output.dim() == 4 ? output.mean({2, 3}) : output;
}

void ScriptBackbone::train(bool on) {
  Backbone::train(on);
  module_.train(on);
}

}  // namespace proca::models
