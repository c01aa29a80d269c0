#include "models/nets/residual_block.h"

#include <fmt/format.h>

#include "kernels/winograd.h"

namespace proca::models {

ConvolutionImpl::ConvolutionImpl(int64_t in_channels, int64_t out_channels, int64_t kernel,
                                 int64_t stride)
    : kernel_(kernel), stride_(stride) {
  // Convolutions run channels-last as soon as one of their operands is.
  const auto channels_last =
      torch::TensorOptions().memory_format(torch::MemoryFormat::ChannelsLast);
  weight_ = register_parameter(
      "weight", torch::empty({out_channels, in_channels, kernel, kernel}, channels_last));
}

torch::Tensor ConvolutionImpl::forward(const torch::Tensor& input) const {
  const int64_t padding = kernel_ / 2;
  return kernels::has_winograd(input, weight_, stride_, padding)
             ? kernels::winograd_convolution(input, weight_)
             : torch::conv2d(input, weight_, /*bias=*/{}, stride_, padding);
}

std::string ConvolutionImpl::describe(LayerGraph& graph, const std::string& name,
                                      const std::string& input) const {
  return graph.append({.kind = LayerKind::kConvolution,
                       .name = name,
                       .inputs = {input},
                       .kernel = kernel_,
                       .stride = stride_,
                       .padding = kernel_ / 2});
}

ResidualBlockImpl::ResidualBlockImpl(const BlockShape& shape) {
  const auto& [kind, in_channels, width, stride, stride_in] = shape;
  if (kind == BlockKind::kBasic) {
    add_convolution(in_channels, width, 3, stride);
    add_convolution(width, width, 3, 1);
  } else {
    add_convolution(in_channels, width, 1, stride_in == StrideIn::k1x1 ? stride : 1);
    add_convolution(width, width, 3, stride_in == StrideIn::k3x3 ? stride : 1);
    add_convolution(width, shape.out_channels(), 1, 1);
  }
  if (stride != 1 || in_channels != shape.out_channels()) {
    const auto downsample = register_module("downsample", std::make_shared<torch::nn::Module>());
    downsample_convolution_ = downsample->register_module(
        "0", Convolution(in_channels, shape.out_channels(), /*kernel=*/1, stride));
    downsample_batch_norm_ =
        downsample->register_module("1", kernels::BatchNorm(shape.out_channels()));
  }
}

void ResidualBlockImpl::add_convolution(int64_t in_channels, int64_t out_channels, int64_t kernel,
                                        int64_t stride) {
  const auto number = convolutions_.size() + 1;
  convolutions_.push_back(register_module(fmt::format("conv{}", number),
                                          Convolution(in_channels, out_channels, kernel, stride)));
  batch_norms_.push_back(
      register_module(fmt::format("bn{}", number), kernels::BatchNorm(out_channels)));
}

// The last batch-norm also adds the shortcut and applies the ReLU.
torch::Tensor ResidualBlockImpl::forward(const torch::Tensor& input, at::IntArrayRef group_sizes) {
  const auto shortcut = downsample_convolution_
                            ? downsample_batch_norm_->forward(
                                  downsample_convolution_->forward(input), group_sizes, {})
                            : input;
  auto output = input;
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    const bool last = i + 1 == convolutions_.size();
    output =
        batch_norms_[i]->forward(convolutions_[i]->forward(output), group_sizes,
                                 {.relu = true, .residual = last ? shortcut : torch::Tensor()});
  }
  return output;
}

std::string ResidualBlockImpl::describe(LayerGraph& graph, const std::string& name,
                                        const std::string& input) const {
  const auto batch_norm = [&](const std::string& layer, const std::string& of,
                              const kernels::BatchNorm& module) {
    return graph.append({.kind = LayerKind::kBatchNorm,
                         .name = layer,
                         .inputs = {of},
                         .epsilon = module->epsilon()});
  };
  const auto relu = [&](const std::string& layer, const std::string& of) {
    return graph.append({.kind = LayerKind::kRelu, .name = layer, .inputs = {of}});
  };
  auto output = input;
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    output = convolutions_[i]->describe(graph, fmt::format("{}.conv{}", name, i + 1), output);
    output = batch_norm(fmt::format("{}.bn{}", name, i + 1), output, batch_norms_[i]);
    if (i + 1 < convolutions_.size()) output = relu(fmt::format("{}.relu{}", name, i + 1), output);
  }
  auto shortcut = input;
  if (downsample_convolution_) {
    shortcut = downsample_convolution_->describe(graph, name + ".downsample.0", input);
    shortcut = batch_norm(name + ".downsample.1", shortcut, downsample_batch_norm_);
  }
  output =
      graph.append({.kind = LayerKind::kAdd, .name = name + ".add", .inputs = {output, shortcut}});
  return relu(name + ".relu", output);
}

}  // namespace proca::models
