#include "proca/losses/gradient_reversal.h"

#include <cmath>

#include <torch/csrc/autograd/custom_function.h>

namespace proca::losses {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Reversal : torch::autograd::Function<Reversal> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& coefficient) {
    context->save_for_backward({coefficient});
    // A view: autograd needs an output that is not the input itself.
    return x.view_as(x);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    // The second entry belongs to the coefficient, which has no gradient.
    return {-context->get_saved_variables().front() * gradients[0], torch::Tensor()};
  }
};

}  // namespace

torch::Tensor reverse_gradient(const torch::Tensor& x, const torch::Tensor& coefficient) {
  TORCH_CHECK(coefficient.numel() == 1, "reverse_gradient: coefficient ", coefficient.sizes());
  return Reversal::apply(x, coefficient);
}

double reversal_ramp(double progress, double steepness, double high) {
  return high * (2 / (1 + std::exp(-steepness * progress)) - 1);
}

}  // namespace proca::losses
