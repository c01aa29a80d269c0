#include "methods/parts/discriminator.h"

namespace proca::methods {

DiscriminatorImpl::DiscriminatorImpl(const DiscriminatorOptions& options, uint64_t seed)
    : dropout_(options.dropout), first_(nullptr), second_(nullptr), last_(nullptr) {
  const auto linear = [&](const std::string& name, int64_t inputs, int64_t outputs,
                          const models::LinearStart& start) {
    return register_module(
        name, models::make_linear(inputs, outputs, start, seed, options.purpose + " " + name));
  };
  first_ = linear("first", options.inputs, options.hidden, options.first);
  second_ = linear("second", options.hidden, options.hidden, options.second);
  last_ = linear("last", options.hidden, options.outputs, options.last);
  if (options.norm == DiscriminatorOptions::Norm::kNone) return;
  const auto norm = torch::nn::BatchNorm1dOptions(options.hidden).track_running_stats(false);
  first_norm_ = register_module("first_norm", torch::nn::BatchNorm1d(norm));
  second_norm_ = register_module("second_norm", torch::nn::BatchNorm1d(norm));
}

torch::Tensor DiscriminatorImpl::hidden(torch::Tensor values, torch::nn::BatchNorm1d& norm) {
  if (!norm.is_empty()) values = norm->forward(values);
  return torch::dropout(torch::relu(values), dropout_, is_training());
}

torch::Tensor DiscriminatorImpl::forward(const torch::Tensor& features) {
  auto values = hidden(first_->forward(features), first_norm_);
  values = hidden(second_->forward(values), second_norm_);
  values = last_->forward(values);
  // Under autocast it is bfloat16, too coarse for the losses.
  return values.scalar_type() == torch::kBFloat16 ? values.to(torch::kFloat32) : values;
}

}  // namespace proca::methods
