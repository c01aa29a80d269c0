// The project's CUDA kernels as a Python module, for check.py.

#include <optional>

#include <torch/extension.h>

#include "batch_norm_kernels.h"
#include "max_pool.h"

namespace {

using proca::kernels::BatchNormInput;
using proca::kernels::BatchNormResult;
using torch::Tensor;

// What is not there is None in Python.
std::optional<Tensor> some(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

// One of two ranks that see the same: every sum is twice what this one has.
class Twin final : public proca::compute::Ranks {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 2; }
  std::unique_ptr<Pending> begin_sum(const Tensor& values) override {
    struct Done final : Pending {
      void wait() override {}
    };
    values.mul_(2);
    return std::make_unique<Done>();
  }
  void broadcast(const Tensor&) override {}
};

struct Layer {
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  std::shared_ptr<Twin> ranks;  // null: alone

  BatchNormInput input(const Tensor& values, const std::optional<Tensor>& residual,
                       const std::vector<int64_t>& groups, bool relu) const {
    return {.values = values,
            .residual = residual.value_or(Tensor()),
            .weight = weight,
            .bias = bias,
            .running_mean = running_mean,
            .running_var = running_var,
            .num_batches_tracked = num_batches_tracked,
            .group_sizes = groups,
            .relu = relu,
            .ranks = ranks.get()};
  }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  pybind11::class_<Layer>(module, "Layer")
      .def(pybind11::init(
          [](Tensor weight, Tensor bias, Tensor mean, Tensor var, Tensor tracked, bool has_twin) {
            return Layer{weight, bias,    mean,
                         var,    tracked, has_twin ? std::make_shared<Twin>() : nullptr};
          }))
      .def("forward",
           [](const Layer& layer, const Tensor& values, const std::optional<Tensor>& residual,
              const std::vector<int64_t>& groups, bool relu) {
             const auto result = proca::kernels::cuda_batch_norm_kernels()->forward(
                 layer.input(values, residual, groups, relu));
             return std::make_tuple(result.output, result.mean, result.inv_std, some(result.mask),
                                    some(result.pixels));
           })
      .def("backward", [](const Layer& layer, const Tensor& gradient, const Tensor& values,
                          const std::optional<Tensor>& residual, const std::vector<int64_t>& groups,
                          bool relu, const Tensor& mean, const Tensor& inv_std,
                          const std::optional<Tensor>& mask, const std::optional<Tensor>& pixels) {
        const BatchNormResult result{.output = {},
                                     .mean = mean,
                                     .inv_std = inv_std,
                                     .pixels = pixels.value_or(Tensor()),
                                     .mask = mask.value_or(Tensor())};
        const auto gradients = proca::kernels::cuda_batch_norm_kernels()->backward(
            gradient, layer.input(values, residual, groups, relu), result);
        return std::make_tuple(gradients.values, some(gradients.residual), gradients.weight,
                               gradients.bias);
      });
  module.def("max_pool", [](const Tensor& values) {
    const auto result = proca::kernels::cuda_max_pool_kernels()->forward(values);
    return std::make_tuple(result.output, result.winners);
  });
  module.def("max_pool_backward",
             [](const Tensor& gradient, const Tensor& winners, const std::vector<int64_t>& shape) {
               return proca::kernels::cuda_max_pool_kernels()->backward(gradient, winners, shape);
             });
}
