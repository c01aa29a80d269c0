#include "kernels/batch_norm.h"

#include <numeric>

#include <ATen/Context.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/batch_norm_kernels.h"

namespace proca::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const BatchNormKernels* kernels_for(const BatchNormInput& input) {
  const auto device = input.values.device();
  const auto* kernels = device.is_cpu()    ? &cpu_batch_norm_kernels()
                        : device.is_cuda() ? cuda_batch_norm_kernels()
                                           : nullptr;
  if (kernels != nullptr && kernels->can_run(input)) return kernels;
  return input.ranks != nullptr ? &shared_batch_norm_kernels() : nullptr;
}

torch::Tensor dense(const torch::Tensor& values) {
  return values.contiguous(values.dim() == 4 ? torch::MemoryFormat::ChannelsLast
                                             : torch::MemoryFormat::Contiguous);
}

// Pointers to what outlives the autograd graph, as saved data of it.
int64_t number_of(const void* pointer) { return reinterpret_cast<intptr_t>(pointer); }
template <typename T>
T* pointer_of(const c10::IValue& number) {
  return reinterpret_cast<T*>(static_cast<intptr_t>(number.toInt()));
}

// Forward and backward kernel for autograd.
class FusedBatchNorm : public torch::autograd::Function<FusedBatchNorm> {
 public:
  // The first four may have gradients. Autograd wants defined tensors: without a residual,
  // `residual` is any tensor.
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& values,
                               const torch::Tensor& /*residual*/, const torch::Tensor& weight,
                               const torch::Tensor& bias, const BatchNormInput& input) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const auto* kernels = kernels_for(input);
    const auto result = kernels->forward(input);
    const bool needs_output = input.relu && !result.mask.defined();
    context->save_for_backward({values, weight, bias, result.mean, result.inv_std, result.mask,
                                needs_output ? result.output : torch::Tensor(), result.pixels});
    context->saved_data["kernels"] = number_of(kernels);
    context->saved_data["ranks"] = number_of(input.ranks);
    context->saved_data["group_sizes"] = input.group_sizes;
    context->saved_data["epsilon"] = input.epsilon;
    context->saved_data["relu"] = input.relu;
    context->saved_data["residual"] = input.residual.defined();
    return result.output;
  }

  static variable_list backward(AutogradContext* context, variable_list output_gradients) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const auto saved = context->get_saved_variables();
    auto& data = context->saved_data;
    BatchNormInput input;
    input.values = saved[0];
    // Only whether there is one matters, so the tensor itself is not kept.
    if (data["residual"].toBool()) input.residual = saved[0];
    input.weight = saved[1];
    input.bias = saved[2];
    input.group_sizes = data["group_sizes"].toIntVector();
    input.epsilon = data["epsilon"].toDouble();
    input.relu = data["relu"].toBool();
    input.ranks = pointer_of<compute::Ranks>(data["ranks"]);
    const BatchNormResult result{.output = saved[6],
                                 .mean = saved[3],
                                 .inv_std = saved[4],
                                 .pixels = saved[7],
                                 .mask = saved[5]};
    auto gradients =
        pointer_of<const BatchNormKernels>(data["kernels"])
            ->backward(dense(output_gradients[0].to(input.values.scalar_type())), input, result);
    return {gradients.values, gradients.residual, gradients.weight, gradients.bias, {}};
  }
};

torch::Tensor finish(torch::Tensor normalised, const torch::Tensor& residual, bool relu) {
  // In place: the gradient of batch-norm does not need its output.
  if (residual.defined()) normalised.add_(residual);
  return relu ? normalised.relu_() : normalised;
}

// With `count` more images of zeros.
torch::Tensor with_padding(const torch::Tensor& values, int64_t count) {
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.front() = count;
  return torch::cat({values, torch::zeros(sizes, values.options())});
}

torch::Tensor batch_norm(const BatchNormInput& input, const torch::Tensor& values, bool training) {
  return torch::batch_norm(values, input.weight, input.bias, input.running_mean, input.running_var,
                           training, input.momentum, input.epsilon,
                           at::globalContext().userEnabledCuDNN());
}

// In LibTorch's operations, where no kernel can run.
torch::Tensor group_by_group(const BatchNormInput& input) {
  std::vector<torch::Tensor> normalised;
  int64_t first = 0;
  for (const int64_t size : input.group_sizes) {
    normalised.push_back(batch_norm(input, input.values.narrow(0, first, size), /*training=*/true));
    first += size;
  }
  input.num_batches_tracked.add_(static_cast<int64_t>(normalised.size()));
  const int64_t padding = input.values.size(0) - first;
  const auto residual =
      input.residual.defined() && padding > 0 ? input.residual.narrow(0, 0, first) : input.residual;
  const auto output = finish(normalised.size() == 1 ? normalised.front() : torch::cat(normalised),
                             residual, input.relu);
  return padding > 0 ? with_padding(output, padding) : output;
}

void check_groups(const BatchNormInput& input) {
  const auto& values = input.values;
  const auto& sizes = input.group_sizes;
  TORCH_CHECK(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) <= values.size(0),
              "groups of ", at::IntArrayRef(sizes), " images in a batch of ", values.size(0));
  if (input.ranks != nullptr) return;  // Other ranks may have more.
  for (const int64_t size : sizes) {
    const int64_t image = values.dim() == 4 ? values.size(2) * values.size(3) : 1;
    TORCH_CHECK(size * image > 1,
                "Expected more than 1 value per channel when training, got input size ",
                values.sizes(), " with groups of ", at::IntArrayRef(sizes));
  }
}

}  // namespace

BatchNormImpl::BatchNormImpl(int64_t num_channels)
    : weight(register_parameter("weight", torch::ones({num_channels}))),
      bias(register_parameter("bias", torch::zeros({num_channels}))),
      running_mean(register_buffer("running_mean", torch::zeros({num_channels}))),
      running_var(register_buffer("running_var", torch::ones({num_channels}))),
      num_batches_tracked(register_buffer("num_batches_tracked", torch::tensor(0, torch::kInt64))) {
}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& values, at::IntArrayRef group_sizes,
                                     const Then& then) {
  TORCH_CHECK(values.dim() == 2 || values.dim() == 4,
              "batch-norm takes [N, C] or [N, C, H, W], not ", values.sizes());
  TORCH_CHECK(values.size(1) == weight.size(0), "batch-norm of ", weight.size(0),
              " channels was given ", values.sizes());
  BatchNormInput input{.values = values,
                       .residual = then.residual.defined() ? then.residual.to(values.scalar_type())
                                                           : torch::Tensor(),
                       .weight = weight,
                       .bias = bias,
                       .running_mean = running_mean,
                       .running_var = running_var,
                       .num_batches_tracked = num_batches_tracked,
                       .group_sizes = group_sizes.vec(),
                       .momentum = momentum_,
                       .epsilon = epsilon_,
                       .relu = then.relu,
                       .ranks = ranks_.get()};
  if (!is_training()) {
    return finish(batch_norm(input, values, /*training=*/false), input.residual, then.relu);
  }
  if (input.group_sizes.empty()) input.group_sizes = {values.size(0)};
  check_groups(input);
  input.values = dense(values);
  if (input.residual.defined()) input.residual = dense(input.residual);
  if (kernels_for(input) == nullptr) return group_by_group(input);
  return FusedBatchNorm::apply(
      input.values, input.residual.defined() ? input.residual : input.values, weight, bias, input);
}

}  // namespace proca::kernels
