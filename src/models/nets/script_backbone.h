#pragma once

#include <filesystem>

#include <torch/csrc/jit/api/module.h>
#include <torch/types.h>

#include "proca/models/backbone.h"

namespace proca::models {

/// The user's own backbone, exported from Python as TorchScript:
///
/// ```python
/// model = torchvision.models.mobilenet_v3_small()
/// model.classifier = torch.nn.Identity()
/// torch.jit.script(model).save("mobilenet.pt")      # --backbone script:mobilenet.pt
/// ```
///
/// The module maps float [N, 3, H, W] to float [N, D], or to [N, D, h, w],
/// which is then averaged over h and w. D is found by a forward pass on one black
/// image of 64 pixels, or of 224 where that is too small.
///
/// It is trained like any other backbone: its parameters and buffers are
/// registered under their own names (`features.0.0.weight`) and are the live
/// tensors of the script, so optimiser, device moves and `train()` reach it.
/// What was saved without `requires_grad` stays frozen; a module saved with
/// `torch.jit.freeze` has no parameters left, so that only the classifier
/// behind it is trained.
///
/// A script is a program, but it can only compute on tensors.
class ScriptBackbone final : public Backbone {
 public:
  /// Throws `InputError` naming the file when it is missing, not TorchScript,
  /// fails on both image sizes, or gives something other than the above.
  explicit ScriptBackbone(const std::filesystem::path& path);

  torch::Tensor forward(const torch::Tensor& images) override;
  int64_t feature_size() const override { return feature_size_; }
  void train(bool on = true) override;

  const torch::jit::Module& module() const { return module_; }

 private:
  torch::jit::Module module_;
  int64_t feature_size_ = 0;
};

}  // namespace proca::models
