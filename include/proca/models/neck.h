#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

namespace proca::models {

/// Layers between a backbone and the classifier, such as the bottleneck that
/// adversarial methods align. They are described by a line of text, which a state
/// directory keeps:
///
///     linear 256
///     linear 256, batch-norm, relu
///
/// | word | |
/// |---|---|
/// | `linear N` | fully connected to N features, with bias |
/// | `batch-norm` | over the features |
/// | `relu`, `elu` | |
///
/// Linear layers start at PyTorch's default, uniform in +-1/sqrt(input size).
class NeckImpl : public torch::nn::Module {
 public:
  enum class Kind { kLinear, kBatchNorm, kRelu, kElu };
  struct Layer {
    Kind kind = Kind::kRelu;
    int64_t size = 0;  ///< of its output
  };

  /// Throws `InputError` for a layout that cannot be read.
  NeckImpl(int64_t input_size, const std::string& layout, uint64_t seed);

  /// float [N, input size] -> float [N, output_size()]. `group_sizes` as in
  /// `BatchNormImpl::forward`.
  torch::Tensor forward(const torch::Tensor& features, at::IntArrayRef group_sizes = {});
  /// Only the layers first, ..., last - 1.
  torch::Tensor forward_part(torch::Tensor features, size_t first, size_t last,
                             at::IntArrayRef group_sizes = {});

  int64_t output_size() const { return layers_.back().size; }
  const std::string& layout() const { return layout_; }
  /// Parameters of layer i are named `i.weight`, `i.bias`, ...
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  std::string layout_;
  std::vector<Layer> layers_;
};
TORCH_MODULE(Neck);

}  // namespace proca::models
