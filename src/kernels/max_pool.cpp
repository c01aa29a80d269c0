#include "kernels/max_pool.h"

#include <torch/csrc/autograd/custom_function.h>

namespace proca::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Pool : torch::autograd::Function<Pool> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& values) {
    const auto result = cuda_max_pool_kernels()->forward(values);
    context->save_for_backward({result.winners});
    context->saved_data["shape"] = values.sizes().vec();
    return result.output;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {cuda_max_pool_kernels()->backward(gradients[0], context->get_saved_variables().front(),
                                              context->saved_data["shape"].toIntVector())};
  }
};

}  // namespace

torch::Tensor halving_max_pool(const torch::Tensor& values) {
  const auto* kernels = cuda_max_pool_kernels();
  if (kernels != nullptr && kernels->can_run(values)) return Pool::apply(values);
  return torch::max_pool2d(values, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
}

}  // namespace proca::kernels
